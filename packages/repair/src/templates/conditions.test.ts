/** The condition template: negated, dropped, added and regrouped clauses. */

import { never, ranks } from "./rows.test.ts";

ranks("condition", [
  ["py", "def f(a):\n    if a:\n        return 1\n", "def f(a):\n    if not a:\n        return 1\n", 4],
  ["py", "def f(a):\n    if not a:\n        return 1\n", "def f(a):\n    if a:\n        return 1\n", 4],
  [
    "py",
    "def f(a, b):\n    if a and b:\n        return 1\n",
    "def f(a, b):\n    if b:\n        return 1\n",
    10,
  ],
  [
    "py",
    "def f(a, b):\n    if a and b:\n        return 1\n",
    "def f(a, b):\n    if not (a and b):\n        return 1\n",
    10,
  ],
  [
    "py",
    "def f(a):\n    if a.done:\n        return 1\n",
    "def f(a):\n    if not a or a.done:\n        return 1\n",
    12,
  ],
  [
    "py",
    "def f(a):\n    if a.done:\n        return 1\n",
    "def f(a):\n    if a is not None and a.done:\n        return 1\n",
    30,
  ],
  ["py", "def f(a, b, c):\n    return a or b and c\n", "def f(a, b, c):\n    return (a or b) and c\n", 20],
  ["py", "def f(a, b, c):\n    return (a + b) / c\n", "def f(a, b, c):\n    return a + b / c\n", 20],
  ["py", "def f(a, b, c):\n    return a + b * c\n", "def f(a, b, c):\n    return (a + b) * c\n", 20],
  ["py", "def f(y):\n    return y % 4 == 0\n", "def f(y):\n    return y % 4 == 0 and y % 100 == 0\n", 130],
  [
    "py",
    "def f(xs):\n    while True:\n        xs.pop()\n",
    "def f(xs):\n    while xs:\n        xs.pop()\n",
    14,
  ],
  ["js", "function f(a) {\n  if (a) return 1;\n}\n", "function f(a) {\n  if (!a) return 1;\n}\n", 4],
  [
    "js",
    "function f(a, b) {\n  if (a || b) return 1;\n}\n",
    "function f(a, b) {\n  if (a) return 1;\n}\n",
    12,
  ],
  [
    "js",
    "function f(a) {\n  while (a.next) a = a.next;\n}\n",
    "function f(a) {\n  while (a && a.next) a = a.next;\n}\n",
    40,
  ],
  [
    "ts",
    "const f = (a: boolean, b: boolean): boolean => {\n  return !(a && b);\n};\n",
    "const f = (a: boolean, b: boolean): boolean => {\n  return (a && b);\n};\n",
    20,
  ],
]);

never("condition", [
  [
    "py",
    "def f(a, b):\n    if a and b:\n        return 1\n",
    "def f(a, b):\n    if not a and b:\n        return 1\n",
  ],
  [
    "js",
    "function f(a, b) {\n  if (a || b) return 1;\n}\n",
    "function f(a, b) {\n  if (!a || b) return 1;\n}\n",
  ],
]);
