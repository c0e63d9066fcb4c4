import { malformed } from "./failure.ts";

const PATH_LENGTH_MAX = 1024;
const DEPTH_MAX = 64;

/**
 * Checks the path of an entry.
 *
 * SECURITY: a path never leaves the folder that an archive is unpacked into, on any system.
 *
 * @returns The path without a `./` before it and a `/` after it; "" for the folder itself.
 * @throws Failure `malformed`
 */
export function requireEntryPath(path: string): string {
  const bare = path.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
  if (bare === "." || bare === "") return "";
  const segments = bare.split("/");
  const isGood =
    bare.length <= PATH_LENGTH_MAX &&
    segments.length <= DEPTH_MAX &&
    // oxlint-disable-next-line no-control-regex -- control characters are what is refused
    !/[\u0000-\u001f\\]|^[a-zA-Z]:/.test(bare) &&
    segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
  if (isGood) return bare;
  throw malformed("the archive has an entry whose path leaves its folder, or is no path");
}
