/** The platform of a gem. Undefined for every Ruby. */
export interface GemPlatform {
  readonly cpu: string | null;
  readonly os: string;
  readonly version: string | null;
}

/** The platform of gems without compiled code. */
export const RUBY = "ruby";

/** The system by the pattern of its name; the first rule that matches counts. */
const SYSTEMS: readonly (readonly [pattern: RegExp, os?: string])[] = [
  [/aix(\d+)?/, "aix"],
  [/cygwin/, "cygwin"],
  [/darwin(\d+)?/, "darwin"],
  [/^macruby$/, "macruby"],
  [/freebsd(\d+)?/, "freebsd"],
  [/hpux(\d+)?/, "hpux"],
  [/^jruby$/, "java"],
  [/^java([\d.]+)?/, "java"],
  [/^dalvik(\d+)?$/, "dalvik"],
  [/^dotnet([\d.]+)?/, "dotnet"],
  [/linux-?((?!gnu)\w+)?/, "linux"],
  [/mingw32/, "mingw32"],
  [/mingw-?(\w+)?/, "mingw"],
  [/netbsdelf/, "netbsdelf"],
  [/openbsd(\d+\.\d+)?/, "openbsd"],
  [/solaris(\d+\.\d+)?/, "solaris"],
];

/**
 * Reads a platform such as `x86_64-linux-musl`.
 *
 * @returns Undefined for `ruby`.
 */
export function parsePlatform(text: string): GemPlatform | undefined {
  if (text === "" || text === RUBY) return undefined;
  const [first = "", ...rest] = text.split("-");
  // A name of one part is a system's, as in `java`.
  const cpu = rest.length === 0 ? null : /i\d86/.test(first) ? "x86" : first;
  const [system = "", version] = rest.length === 0 ? [first] : rest;
  if (rest.length === 2 && version !== undefined && /^\d+(\.\d+)?$/.test(version)) {
    return { cpu, os: system, version };
  }
  const isExtended = rest.length > 1 && !/\d/.test(rest.at(-1) ?? "");
  const name = isExtended && rest.length === 2 ? rest.join("-") : system;
  const [, mswin, mswinVersion] = /(mswin\d+)(?:_(\d+))?/.exec(name) ?? [];
  if (mswin !== undefined) {
    const os = mswin;
    return { cpu: cpu ?? (os.endsWith("32") ? "x86" : null), os, version: mswinVersion ?? null };
  }
  for (const [pattern, os = ""] of SYSTEMS) {
    const match = pattern.exec(name);
    if (match) return { cpu, os, version: match[1] ?? null };
  }
  return { cpu, os: "unknown", version: null };
}

/** The platform in the form that file names and indexes have. */
export const formatPlatform = (platform: GemPlatform | undefined): string =>
  platform
    ? [platform.cpu, platform.os, platform.version].filter((part) => part !== null).join("-")
    : RUBY;
