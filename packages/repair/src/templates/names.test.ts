/** The name template: variables in scope, fields, functions and attributes of the file. */

import { never, ranks } from "./rows.test.ts";

ranks("name", [
  [
    "py",
    "def f(left, right):\n    return left - left\n",
    "def f(left, right):\n    return left - right\n",
    12,
  ],
  [
    "py",
    "def total(prices):\n    result = 0\n    for price in prices:\n        result += prices\n    return result\n",
    "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result\n",
    20,
  ],
  [
    "py",
    "class A:\n    def set(self, name):\n        self.name = name\n        self.size = name\n    def get(self):\n        return name\n",
    "class A:\n    def set(self, name):\n        self.name = name\n        self.size = name\n    def get(self):\n        return self.name\n",
    30,
  ],
  [
    "py",
    "class A:\n    def area(self):\n        self.height = 1\n        return self.width * self.width\n",
    "class A:\n    def area(self):\n        self.height = 1\n        return self.width * self.height\n",
    40,
  ],
  [
    "py",
    "def up(x):\n    return x\ndef down(x):\n    return x\ndef go(x):\n    return up(x)\n",
    "def up(x):\n    return x\ndef down(x):\n    return x\ndef go(x):\n    return down(x)\n",
    40,
  ],
  [
    "js",
    "function f(min, max) {\n  return min + min;\n}\n",
    "function f(min, max) {\n  return min + max;\n}\n",
    20,
  ],
  [
    "js",
    "class A {\n  area() {\n    this.height = 1;\n    return this.width;\n  }\n}\n",
    "class A {\n  area() {\n    this.height = 1;\n    return this.height;\n  }\n}\n",
    20,
  ],
  [
    "ts",
    "const f = (first: number, last: number): number => first;\n",
    "const f = (first: number, last: number): number => last;\n",
    8,
  ],
]);

never("name", [
  ["py", "def f(a, b):\n    return a\n", "def f(b, b):\n    return a\n"],
  ["py", "import os\nx = 1\n", "import x\nx = 1\n"],
  ["js", "import { a } from './b.js';\nconst x = 1;\n", "import { x } from './b.js';\nconst x = 1;\n"],
]);
