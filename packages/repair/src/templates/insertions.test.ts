/** The insertion template: a missing guard, return, update or jump. */

import { never, ranks } from "./rows.test.ts";

ranks("insertion", [
  [
    "py",
    "def f(xs):\n    return sum(xs) / len(xs)\n",
    "def f(xs):\n    if not xs:\n        return 0\n    return sum(xs) / len(xs)\n",
    75,
  ],
  [
    "py",
    "def f(xs):\n    out = []\n    for x in xs:\n        out.append(x)\n",
    "def f(xs):\n    out = []\n    for x in xs:\n        out.append(x)\n    return out\n",
    12,
  ],
  [
    "py",
    "def f(xs):\n    seen = set()\n    for x in xs:\n        if x in seen:\n            return x\n",
    "def f(xs):\n    seen = set()\n    for x in xs:\n        if x in seen:\n            return x\n        seen.add(x)\n",
    40,
  ],
  [
    "py",
    "def f(n):\n    i = 0\n    while i < n:\n        print(i)\n",
    "def f(n):\n    i = 0\n    while i < n:\n        print(i)\n        i += 1\n",
    100,
  ],
  [
    "py",
    "def f(x, xs=[]):\n    xs.append(x)\n    return xs\n",
    "def f(x, xs=None):\n    if xs is None:\n        xs = []\n    xs.append(x)\n    return xs\n",
    6,
  ],
  [
    "py",
    "class Stack:\n    def __init__(self, items):\n        pass\n    def size(self):\n        return len(self.items)\n",
    "class Stack:\n    def __init__(self, items):\n        pass\n        self.items = items\n    def size(self):\n        return len(self.items)\n",
    20,
  ],
  [
    "js",
    "function f(xs) {\n  return xs[0].name;\n}\n",
    "function f(xs) {\n  if (xs.length === 0) return null;\n  return xs[0].name;\n}\n",
    90,
  ],
  [
    "js",
    "function f(xs) {\n  const out = [];\n  for (const x of xs) out.push(x);\n}\n",
    "function f(xs) {\n  const out = [];\n  for (const x of xs) out.push(x);\n  return out;\n}\n",
    12,
  ],
  [
    "ts",
    "function f(xs: string[]): string[] {\n  const seen = new Set<string>();\n  for (const x of xs) {\n    if (seen.has(x)) continue;\n    console.log(x);\n  }\n  return xs;\n}\n",
    "function f(xs: string[]): string[] {\n  const seen = new Set<string>();\n  for (const x of xs) {\n    if (seen.has(x)) continue;\n    seen.add(x);\n    console.log(x);\n  }\n  return xs;\n}\n",
    60,
  ],
]);

never("insertion", [
  [
    "py",
    "def f(x, xs=()):\n    return xs\n",
    "def f(x, xs=None):\n    if xs is None:\n        xs = ()\n    return xs\n",
  ],
  ["py", "def f(a):\n    return a\n", "def f(a):\n    return a\n    return a\n"],
]);
