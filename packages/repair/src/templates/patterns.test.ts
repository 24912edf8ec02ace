/** The pattern template: flags, anchors, repetition and classes of regular expressions. */

import { never, ranks } from "./rows.test.ts";

ranks("pattern", [
  ["js", "const f = (s) => s.replace(/a/, 'b');\n", "const f = (s) => s.replace(/a/g, 'b');\n", 8],
  ["js", "const digits = /^\\d$/;\n", "const digits = /^\\d+$/;\n", 6],
  ["js", "const number = /^\\d+.\\d+$/;\n", "const number = /^\\d+\\.\\d+$/;\n", 6],
  ["js", "const word = /[a-z]+/;\n", "const word = /^[a-z]+$/;\n", 16],
  ["js", "const tag = /<.+>/;\n", "const tag = /<.+?>/;\n", 12],
  [
    "py",
    "import re\ndef f(s):\n    return re.match(r'\\d', s)\n",
    "import re\ndef f(s):\n    return re.match(r'\\d+', s)\n",
    12,
  ],
  ["ts", "const word: RegExp = /[a-z]+/;\n", "const word: RegExp = /[a-zA-Z]+/;\n", 10],
]);

never("pattern", [
  ["py", "def f(s):\n    return s.split('a+')\n", "def f(s):\n    return s.split('a*')\n"],
  ["js", "const slash = 'a+';\n", "const slash = 'a*';\n"],
]);
