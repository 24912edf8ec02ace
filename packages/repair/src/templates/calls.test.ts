/** The call template: confused names, missing and superfluous calls, `await`, optional chaining. */

import { never, ranks } from "./rows.test.ts";

ranks("call", [
  ["py", "def f(xs):\n    return min(xs)\n", "def f(xs):\n    return max(xs)\n", 4],
  ["py", "def f(a, b):\n    a.append(b)\n", "def f(a, b):\n    a.extend(b)\n", 6],
  ["py", "def f(s):\n    return s.lstrip()\n", "def f(s):\n    return s.strip()\n", 6],
  ["py", "def f(xs):\n    return xs\n", "def f(xs):\n    return sorted(xs)\n", 20],
  ["py", "def f(xs):\n    return xs\n", "def f(xs):\n    return xs[::-1]\n", 20],
  ["py", "def f(a, b):\n    return a - b\n", "def f(a, b):\n    return abs(a - b)\n", 40],
  ["py", "def f(a, b):\n    return a - b\n", "def f(a, b):\n    return (a - b)[0]\n", 60],
  ["py", "def f(s):\n    return s.upper()\n", "def f(s):\n    return s\n", 12],
  ["py", "def f(s):\n    return len(s)\n", "def f(s):\n    return s\n", 12],
  ["py", "async def f(g):\n    return g()\n", "async def f(g):\n    return await g()\n", 4],
  ["py", "def f(xs):\n    yield xs\n", "def f(xs):\n    yield from xs\n", 3],
  ["py", "def f(p):\n    return p.area\n", "def f(p):\n    return p.area()\n", 30],
  ["js", "const f = (xs) => xs.some((x) => x);\n", "const f = (xs) => xs.every((x) => x);\n", 4],
  ["js", "const f = (a) => Math.floor(a);\n", "const f = (a) => Math.ceil(a);\n", 4],
  [
    "js",
    "const f = (a, b) => {\n  return a / b;\n};\n",
    "const f = (a, b) => {\n  return Math.floor(a / b);\n};\n",
    16,
  ],
  [
    "js",
    "async function f(g) {\n  const a = g();\n  return a.b;\n}\n",
    "async function f(g) {\n  const a = await g();\n  return a.b;\n}\n",
    6,
  ],
  [
    "js",
    "async function f(g) {\n  return g().b;\n}\n",
    "async function f(g) {\n  return (await g()).b;\n}\n",
    6,
  ],
  ["js", "const f = (a) => a.b.c;\n", "const f = (a) => a.b?.c;\n", 12],
  ["js", "const f = (xs) => {\n  return xs;\n};\n", "const f = (xs) => {\n  return [...xs];\n};\n", 20],
  [
    "ts",
    "const f = (s: string): number => {\n  return s;\n};\n",
    "const f = (s: string): number => {\n  return Number(s);\n};\n",
    12,
  ],
  [
    "ts",
    "const f = (a?: number): number => {\n  return a;\n};\n",
    "const f = (a?: number): number => {\n  return a ?? 0;\n};\n",
    12,
  ],
]);

never("call", [
  ["js", "function f(g) {\n  return g();\n}\n", "function f(g) {\n  return await g();\n}\n"],
  ["py", "def f(a, b):\n    return a - b\n", "def f(a, b):\n    return a - b[0:]\n"],
  ["py", "def f(a, b):\n    return a < b\n", "def f(a, b):\n    return a or 0 < b\n"],
]);
