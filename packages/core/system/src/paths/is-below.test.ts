import { parse, sep } from "node:path";
import { isBelowCases } from "@lathe/testkit";
import { isBelow } from "./is-below.ts";

isBelowCases(isBelow, sep, parse(process.cwd()).root);
