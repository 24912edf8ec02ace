/** The program that makes forks. */
import { type Failure, failure } from "@lathe/protocol";
import { nativeBinary } from "@lathe/sandbox";
import { cacheFolder, type Env, hostProgramPath } from "@lathe/system";

/** The launcher's path; without it, why there are no forks. */
export async function forkBinary(env: Env): Promise<string | Failure> {
  const only = "forks need the launcher";
  if (process.platform !== "linux") return failure("sandbox-unavailable", `${only}, which is for Linux`);
  const found = await nativeBinary({ cacheFolder: cacheFolder(env), path: hostProgramPath(env) });
  if ("binary" in found) return found.binary;
  return failure("sandbox-unavailable", `${only}. ${found.why} ${found.remedy}`, {
    who: "host",
    cause: found.cause,
  });
}
