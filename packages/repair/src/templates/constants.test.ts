/** The constant template: neighbours, truth values, empty values, related numbers, format strings. */

import { never, ranks } from "./rows.test.ts";

ranks("constant", [
  ["py", "LIMIT = 1\n", "LIMIT = 2\n", 3],
  ["py", "LIMIT = 1\n", "LIMIT = 0\n", 3],
  ["py", "DAY = 3600\n", "DAY = 86400\n", 9],
  ["py", "FLAG = True\n", "FLAG = False\n", 2],
  ["py", "best = 0\n", "best = float('-inf')\n", 8],
  ["py", "def f():\n    return None\n", "def f():\n    return []\n", 8],
  ["py", "dp = []\n", "dp = [[]]\n", 4],
  ["py", 'sep = ""\n', 'sep = " "\n', 3],
  ["py", 'sep = " "\n', 'sep = ""\n', 6],
  ["py", 'fmt = "%Y-%M-%d"\n', 'fmt = "%Y-%m-%d"\n', 6],
  ["py", 'a = "left"\nb = "right"\n', 'a = "left"\nb = "left"\n', 12],
  ["js", "const limit = 10;\n", "const limit = 9;\n", 3],
  ["js", "const on = false;\n", "const on = true;\n", 2],
  ["js", "let best = 0;\n", "let best = -Infinity;\n", 8],
  ["js", "const none = null;\n", "const none = undefined;\n", 3],
  ["js", "const name = 'Bob';\n", "const name = 'bob';\n", 3],
  ["ts", "const day: number = 24 * 60;\n", "const day: number = 24 * 3600;\n", 30],
]);

never("constant", [
  ["py", 'def f():\n    """One word."""\n    return 1\n', 'def f():\n    """one word."""\n    return 1\n'],
  ["py", 'a = f"{b} C"\n', 'a = f"{b} c"\n'],
  ["js", `const a = \`X\${b}\`;\n`, `const a = \`x\${b}\`;\n`],
  ["ts", "type A = 1;\n", "type A = 2;\n"],
]);
