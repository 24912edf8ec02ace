import { isBelowCases } from "@lathe/testkit";
import { isBelow } from "./is-below.ts";

isBelowCases(isBelow, "/", "/");
