/** Each driver of this machine against the whole suite of probes, as the user who runs the tests. */
import { driversHold } from "./drivers-hold.ts";

await driversHold();
