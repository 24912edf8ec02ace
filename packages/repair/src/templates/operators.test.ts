/** The operator template finds the operator that was meant. */

import { never, ranks } from "./rows.test.ts";

ranks("operator", [
  ["py", "def f(a, b):\n    return a < b\n", "def f(a, b):\n    return a <= b\n", 3],
  ["py", "def f(a, b):\n    return a > b\n", "def f(a, b):\n    return a >= b\n", 3],
  ["py", "def f(a, b):\n    return a == b\n", "def f(a, b):\n    return a != b\n", 3],
  ["py", "def f(a, b):\n    return a and b\n", "def f(a, b):\n    return a or b\n", 3],
  ["py", "def f(a, b):\n    return a + b\n", "def f(a, b):\n    return a - b\n", 3],
  ["py", "def f(a, b):\n    return a / b\n", "def f(a, b):\n    return a // b\n", 3],
  ["py", "def f(n):\n    return n % 2\n", "def f(n):\n    return n // 2\n", 8],
  ["py", "def f(n):\n    return n ^ 2\n", "def f(n):\n    return n ** 2\n", 8],
  [
    "py",
    "def f(a, b):\n    if a is not b:\n        return a\n",
    "def f(a, b):\n    if a != b:\n        return a\n",
    12,
  ],
  ["py", "def f(a, b):\n    return a not in b\n", "def f(a, b):\n    return a in b\n", 3],
  [
    "py",
    "def f(xs):\n    n = 0\n    for x in xs:\n        n = x\n    return n\n",
    "def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n    return n\n",
    40,
  ],
  ["py", "def f(n):\n    n -= 2\n    return n\n", "def f(n):\n    n += 2\n    return n\n", 4],
  ["js", "const f = (a, b) => a < b;\n", "const f = (a, b) => a <= b;\n", 3],
  ["js", "const f = (a, b) => a === b;\n", "const f = (a, b) => a !== b;\n", 3],
  ["js", "const f = (a, b) => a == b;\n", "const f = (a, b) => a === b;\n", 4],
  ["js", "const f = (a, b) => a && b;\n", "const f = (a, b) => a || b;\n", 3],
  ["js", "const f = (a, b) => a || b;\n", "const f = (a, b) => a ?? b;\n", 3],
  ["js", "function f(n) {\n  n--;\n  return n;\n}\n", "function f(n) {\n  n++;\n  return n;\n}\n", 6],
  [
    "js",
    "function f(xs) {\n  let n = 0;\n  for (const x in xs) n += x;\n  return n;\n}\n",
    "function f(xs) {\n  let n = 0;\n  for (const x of xs) n += x;\n  return n;\n}\n",
    12,
  ],
  [
    "ts",
    "const f = (a: number, b: number): number => a * b;\n",
    "const f = (a: number, b: number): number => a + b;\n",
    4,
  ],
  ["ts", "const f = (a: number): number => a >> 1;\n", "const f = (a: number): number => a >>> 1;\n", 6],
]);

never("operator", [
  ["js", "const f = (a, b) => a < b;\n", "const f = (a, b) => a == b;\n"],
  ["js", "const f = (a, b) => a < b;\n", "const f = (a, b) => a != b;\n"],
  ["py", "def f(a, b):\n    return a < b\n", "def f(a, b):\n    return a === b\n"],
  ["ts", "const f: Array<number> = [];\n", "const f: Array<=number> = [];\n"],
]);
