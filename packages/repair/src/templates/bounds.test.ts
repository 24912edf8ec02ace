/** The off-by-one template: shifts with the parentheses they need, ranges, slices, ends. */

import { never, ranks } from "./rows.test.ts";

ranks("off-by-one", [
  ["py", "def f(xs, n):\n    return xs[n]\n", "def f(xs, n):\n    return xs[n - 1]\n", 8],
  ["py", "def f(n):\n    return range(n)\n", "def f(n):\n    return range(n + 1)\n", 6],
  ["py", "def f(a, n):\n    return range(a, n)\n", "def f(a, n):\n    return range(a, n + 1)\n", 8],
  ["py", "def f(n):\n    return range(n)\n", "def f(n):\n    return range(1, n + 1)\n", 12],
  ["py", "def f(a, b):\n    return a * b\n", "def f(a, b):\n    return a * (b - 1)\n", 14],
  ["py", "def f(a, b):\n    return a % b\n", "def f(a, b):\n    return (a + 1) % b\n", 20],
  ["py", "def f(a, b):\n    return a if a else b\n", "def f(a, b):\n    return (a if a else b) + 1\n", 30],
  ["py", "def f(n):\n    return n - 1\n", "def f(n):\n    return n\n", 4],
  ["py", "def f(xs, n):\n    return xs[n:]\n", "def f(xs, n):\n    return xs[:n]\n", 12],
  ["py", "def f(xs, n):\n    return xs[:n]\n", "def f(xs, n):\n    return xs[-n:]\n", 12],
  ["py", "def f(xs):\n    return xs[1:-1]\n", "def f(xs):\n    return xs[1:]\n", 12],
  ["py", "def f(xs):\n    return xs[:]\n", "def f(xs):\n    return xs[::-1]\n", 6],
  ["py", "def f(xs):\n    return xs[2]\n", "def f(xs):\n    return xs[-1]\n", 12],
  ["js", "const f = (xs, n) => xs[n];\n", "const f = (xs, n) => xs[n - 1];\n", 8],
  ["js", "const f = (xs, i) => xs[i];\n", "const f = (xs, i) => xs[xs.length - 1];\n", 12],
  [
    "js",
    "function f(xs) {\n  return xs.slice(xs.length - 1);\n}\n",
    "function f(xs) {\n  return xs.slice(xs.length);\n}\n",
    8,
  ],
  ["js", "const f = (a, b) => a * b;\n", "const f = (a, b) => a * (b + 1);\n", 10],
  ["js", "const f = (a, b) => a < b;\n", "const f = (a, b) => a < b - 1;\n", 10],
  [
    "ts",
    "const f = (n: number): number => {\n  const last = n;\n  return last;\n};\n",
    "const f = (n: number): number => {\n  const last = n - 1;\n  return last;\n};\n",
    12,
  ],
]);

never("off-by-one", [
  ["py", "def f(a, b):\n    return a * b\n", "def f(a, b):\n    return a * b - 1 * 1\n"],
  ["py", "def f(a, b):\n    return a % b\n", "def f(a, b):\n    return a + 1 % b\n"],
  ["py", "def f(xs, n):\n    xs[n] = 1\n", "def f(xs, n):\n    xs[n] + 1 = 1\n"],
  ["js", "let n = 1;\n", "let n + 1 = 1;\n"],
  ["js", "const f = (a, b) => a * b;\n", "const f = (a, b) => a + 1 * b;\n"],
]);
