/** The copied-guard template: a guard that exists elsewhere in the file. */

import { never, ranks } from "./rows.test.ts";

const guarded = "def a(x):\n    if x is None:\n        raise ValueError(x)\n    return x.b\n";

ranks("copied-guard", [
  [
    "py",
    `${guarded}def c(x):\n    return x.d\n`,
    `${guarded}def c(x):\n    if x is None:\n        raise ValueError(x)\n    return x.d\n`,
    30,
  ],
  [
    "js",
    "function a(x) {\n  if (!x) {\n    return null;\n  }\n  return x.b;\n}\nfunction c(x) {\n  const y = x;\n  return x.d;\n}\n",
    "function a(x) {\n  if (!x) {\n    return null;\n  }\n  return x.b;\n}\nfunction c(x) {\n  const y = x;\n  if (!x) return null;\n  return x.d;\n}\n",
    60,
  ],
]);

never("copied-guard", [
  [
    "py",
    `${guarded}def c(y):\n    return y.d\n`,
    `${guarded}def c(y):\n    if x is None:\n        raise ValueError(x)\n    return y.d\n`,
  ],
]);
