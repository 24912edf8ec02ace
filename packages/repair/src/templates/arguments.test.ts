/** The argument template: swapped, missing and superfluous arguments, forgotten options. */

import { never, ranks } from "./rows.test.ts";

ranks("argument", [
  ["py", "def f(a, b):\n    return power(a, b)\n", "def f(a, b):\n    return power(b, a)\n", 12],
  ["py", "def f(a, b):\n    return a, b\n", "def f(a, b):\n    return b, a\n", 6],
  ["py", "def f(m, i, j):\n    return m[i, j]\n", "def f(m, i, j):\n    return m[j, i]\n", 16],
  ["py", "def f(xs):\n    return sorted(xs)\n", "def f(xs):\n    return sorted(xs, reverse=True)\n", 8],
  ["py", "def f(d, k):\n    return d.get(k)\n", "def f(d, k):\n    return d.get(k, 0)\n", 8],
  [
    "py",
    "def g(a, b):\n    return a\ndef f(a, b):\n    return g(a)\n",
    "def g(a, b):\n    return a\ndef f(a, b):\n    return g(a, b)\n",
    30,
  ],
  ["py", 'def f(s):\n    return s.split(" ")\n', "def f(s):\n    return s.split()\n", 12],
  ["py", "def f(n):\n    return range(0, n, 2)\n", "def f(n):\n    return range(0, n)\n", 30],
  ["js", "const f = (xs) => xs.sort();\n", "const f = (xs) => xs.sort((a, b) => a - b);\n", 3],
  ["js", "const f = (xs) => xs.join();\n", 'const f = (xs) => xs.join("");\n', 6],
  [
    "js",
    "const f = (xs) => xs.map(parseInt);\n",
    "const f = (xs) => xs.map((item) => parseInt(item));\n",
    16,
  ],
  [
    "js",
    "const f = (xs) => xs.reduce((a, b) => a + b);\n",
    "const f = (xs) => xs.reduce((a, b) => a + b, 0);\n",
    8,
  ],
  ["js", "const f = (a, b) => g(a, b);\n", "const f = (a, b) => g(b, a);\n", 10],
  [
    "ts",
    "const f = (s: string): string => s.padStart(2);\n",
    'const f = (s: string): string => s.padStart(2, "0");\n',
    6,
  ],
]);

never("argument", [
  [
    "py",
    "def f(xs):\n    return sorted(xs, reverse=False)\n",
    "def f(xs):\n    return sorted(xs, reverse=False, reverse=True)\n",
  ],
  ["js", "const f = (xs) => xs.constructor();\n", "const f = (xs) => xs.constructor(undefined);\n"],
]);
