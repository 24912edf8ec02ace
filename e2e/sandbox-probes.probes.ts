/** Runs all probes on each driver of this machine, as the user who runs the tests. */
import { driversHold } from "./drivers-hold.ts";

await driversHold();
