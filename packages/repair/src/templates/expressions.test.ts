/** The expression template: swapped and dropped operands, branches, expressions of the same role. */

import { never, ranks } from "./rows.test.ts";

ranks("expression", [
  ["py", "def f(a, b):\n    return a - b\n", "def f(a, b):\n    return b - a\n", 8],
  ["py", "def f(a, b, c):\n    return a - b * c\n", "def f(a, b, c):\n    return (b * c) - a\n", 20],
  ["py", "def f(a, b):\n    return a + b\n", "def f(a, b):\n    return a\n", 16],
  ["py", "def f(a):\n    return 1 if a else 2\n", "def f(a):\n    return 2 if a else 1\n", 8],
  [
    "py",
    "def f(xs):\n    return {i: x for i, x in enumerate(xs)}\n",
    "def f(xs):\n    return {x: i for i, x in enumerate(xs)}\n",
    40,
  ],
  [
    "py",
    "def f(xs):\n    best = 0\n    for x in xs:\n        best = x\n    return best\n",
    "def f(xs):\n    best = 0\n    for x in xs:\n        best = max(best, x)\n    return best\n",
    60,
  ],
  [
    "py",
    "def f(n):\n    if n > 0:\n        return f(n - 1)\n    return True\n",
    "def f(n):\n    if n > 0:\n        return f(n - 1)\n    return n == 0\n",
    80,
  ],
  ["js", "const f = (a, b) => a - b;\n", "const f = (a, b) => b - a;\n", 8],
  ["js", "const f = (a) => (a ? 1 : 2);\n", "const f = (a) => (a ? 2 : 1);\n", 8],
  [
    "js",
    "function f(p, q) {\n  const a = q.size;\n  return p;\n}\n",
    "function f(p, q) {\n  const a = q.size;\n  return q.size;\n}\n",
    130,
  ],
  [
    "ts",
    "const f = (a: number, b: number): number => a / b;\n",
    "const f = (a: number, b: number): number => b / a;\n",
    10,
  ],
]);

never("expression", [
  ["py", "def f(a, b):\n    return a * b\n", "def f(a, b):\n    return b * a\n"],
  ["py", "def f(a, b, c):\n    return a - b * c\n", "def f(a, b, c):\n    return b * c - a + 0\n"],
  ["js", "const o = { name: x };\n", "const o = { x: name };\n"],
]);
