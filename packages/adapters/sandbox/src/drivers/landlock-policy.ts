/** The policy of a sandbox for where there is no root of its own: what is shown elsewhere is allowed where it really lies. */

import { realPath } from "@lathe/system/paths";
import type { Mount, Policy } from "../policy/policy.ts";
import { settingsPaths } from "../policy/system-settings.ts";

/** The same policy; what a mount would put together or hide is left out, and refused like all that is not named. */
export function landlockPolicy(policy: Policy): Policy {
  return {
    ...policy,
    // Nothing can be mounted ahead where nothing is mounted.
    system: { ...policy.system, mounts: [] },
    below: policy.below.flatMap(allowed),
    mounts: [...settingsPaths().flatMap(readOnly), ...policy.mounts.flatMap(allowed)],
  };
}

function allowed(mount: Mount): readonly Mount[] {
  if (mount.kind === "read-only") return mount.to === "/etc" ? [] : readOnly(mount.from);
  // A folder under another name, as the private /tmp, is there under its own.
  if (mount.kind !== "writable" || mount.from !== mount.to) return [];
  const real = realPath(mount.from);
  return real === undefined ? [] : [{ kind: "writable", from: real, to: real }];
}

function readOnly(path: string): readonly Mount[] {
  const real = realPath(path);
  return real === undefined ? [] : [{ kind: "read-only", from: real, to: real }];
}
