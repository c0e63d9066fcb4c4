import { malformed } from "../../lib/failure.ts";
import { gemVersionKey, isGemVersion } from "./gem-version.ts";
import { RUBY } from "./platform.ts";

const NAME = /^(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whether RubyGems.org takes a text for the name of a gem. Names are compared as they are. */
export const isGemName = (text: string): boolean => NAME.test(text);

/** Whether a text can be a platform, such as `x86_64-linux`. */
export const isPlatformName = (text: string): boolean => /^[A-Za-z0-9._-]{1,64}$/.test(text);

/** @throws Failure `malformed` */
export function requireGemName(name: string): string {
  if (isGemName(name)) return name;
  throw malformed("the name of a gem begins with a letter or digit and has only these and ._-");
}

/** A version of a gem for one platform. */
export interface GemSlug {
  readonly name: string;
  readonly number: string;
  readonly platform: string;
}

/** A version with its platform, as file names and indexes have it: `1.0.0`, `1.0.0-java`. */
export const formatGemSlug = ({ number, platform }: Pick<GemSlug, "number" | "platform">): string =>
  platform === RUBY ? number : `${number}-${platform}`;

/** Maximum number of ways to read a file name that are tried. */
const READINGS_MAX = 20;

/**
 * The ways to read `<name>-<version>[-<platform>]`: the names of gems have hyphens and digits, too.
 */
export function parseSlug(text: string): GemSlug[] {
  const readings: GemSlug[] = [];
  for (let at = text.indexOf("-"); at >= 0; at = text.indexOf("-", at + 1)) {
    const name = text.slice(0, at);
    const [, number = "", platform = RUBY] = /^([^-]+)(?:-(.+))?$/.exec(text.slice(at + 1)) ?? [];
    if (isGemVersion(number) && isGemName(name)) readings.push({ name, number, platform });
  }
  return readings.slice(0, READINGS_MAX);
}

/** A version and platform in a form that is the same for versions that RubyGems takes for equal. */
export const slugKey = ({ number, platform }: Pick<GemSlug, "number" | "platform">): string =>
  `${gemVersionKey(number)}-${platform}`;
