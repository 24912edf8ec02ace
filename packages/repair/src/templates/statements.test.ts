/** The statement template: deleted, swapped, moved, returned, replaced by a jump. */

import { never, ranks } from "./rows.test.ts";

const loop = "def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n        return n\n";

ranks("statement", [
  ["py", loop, "def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n    return n\n", 20],
  [
    "py",
    "def f(xs):\n    for x in xs:\n        n = 0\n        n += x\n    return n\n",
    "def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n    return n\n",
    30,
  ],
  [
    "py",
    "def f(xs):\n    for x in xs:\n        y = x\n    print(y)\n",
    "def f(xs):\n    for x in xs:\n        y = x\n        print(y)\n",
    20,
  ],
  [
    "py",
    "def f(a):\n    a = 1\n    a = 2\n    return a\n",
    "def f(a):\n    a = 2\n    a = 1\n    return a\n",
    16,
  ],
  ["py", "def f(a):\n    a.clear()\n    return a\n", "def f(a):\n    return a\n", 30],
  ["py", "def f(a):\n    a.clear()\n", "def f(a):\n    return a.clear()\n", 6],
  ["py", "def f(a):\n    a.clear()\n", "def f(a):\n    pass\n", 12],
  [
    "py",
    "def f(xs):\n    for x in xs:\n        if x:\n            break\n    return x\n",
    "def f(xs):\n    for x in xs:\n        if x:\n            continue\n    return x\n",
    6,
  ],
  ["py", "def f(a):\n    if a:\n        a = 1\n    return a\n", "def f(a):\n    a = 1\n    return a\n", 20],
  [
    "py",
    "def f(a, b):\n    if a:\n        x = 1\n    if b:\n        x = 2\n    return x\n",
    "def f(a, b):\n    if a:\n        x = 1\n    elif b:\n        x = 2\n    return x\n",
    20,
  ],
  [
    "py",
    "def f(n):\n    if n > 9:\n        n = n // 2\n    return n\n",
    "def f(n):\n    while n > 9:\n        n = n // 2\n    return n\n",
    90,
  ],
  [
    "js",
    "function f(xs) {\n  let n = 0;\n  for (const x of xs) {\n    n += x;\n    return n;\n  }\n}\n",
    "function f(xs) {\n  let n = 0;\n  for (const x of xs) {\n    n += x;\n  }\n  return n;\n}\n",
    20,
  ],
  ["js", "function f(a) {\n  a.clear();\n  return a;\n}\n", "function f(a) {\n  return a;\n}\n", 30],
  [
    "js",
    "function f(a, b) {\n  if (a) {\n    return 1;\n  }\n  if (b) {\n    return 2;\n  }\n}\n",
    "function f(a, b) {\n  if (a) {\n    return 1;\n  }\n  else if (b) {\n    return 2;\n  }\n}\n",
    30,
  ],
  [
    "ts",
    "function f(a: number): number {\n  g(a);\n}\n",
    "function f(a: number): number {\n  return g(a);\n}\n",
    6,
  ],
]);

never("statement", [
  ["py", 'def f(a):\n    """Words."""\n    return a\n', "def f(a):\n    return a\n"],
  ["py", "def f(a):\n    return a\n", "def f(a):\n"],
  ["js", "const a = 1;\nconst b = 2;\n", "const b = 2;\n"],
]);
