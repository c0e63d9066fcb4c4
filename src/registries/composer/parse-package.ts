import { z } from "zod";

import { boundedList, boundedRecord } from "../../lib/bounded.ts";
import { parseJson } from "../../lib/json.ts";

const Key = z.string().max(255);
const KEYS_MAX = 5000;

/** An object, for which PHP writes `[]` if it is empty. */
const object = <T>(value: z.ZodType<T>) =>
  z.preprocess(
    (given) => (Array.isArray(given) && given.length === 0 ? {} : given),
    boundedRecord(value, KEYS_MAX, Key),
  );
const texts = object(z.string().max(1000));
const list = boundedList(z.string().max(1000), 1000);
const anyObject = object(z.unknown());

/** Vendor and name, as Composer requires them of packages that are published. */
const NAME = /^[a-z0-9]+(?:[_.-][a-z0-9]+)*\/[a-z0-9]+(?:(?:[_.]|-{1,2})[a-z0-9]+)*$/;
const NAME_CHARS_MAX = 200;

export const isComposerName = (name: string): boolean =>
  name.length <= NAME_CHARS_MAX && NAME.test(name);

/**
 * The fields of a version that Composer reads; other fields of a composer.json are about the
 * package as a project.
 */
const ComposerPackage = z.object({
  name: z.string().toLowerCase().refine(isComposerName),
  description: z.string().max(10_000).optional(),
  type: z
    .string()
    .regex(/^[a-z0-9-]{1,100}$/)
    .optional(),
  keywords: list.optional(),
  homepage: z.string().max(2000).optional(),
  license: z.union([z.string().max(255), list]).optional(),
  authors: boundedList(boundedRecord(z.string().max(1000), 100, Key), 1000).optional(),
  support: texts.optional(),
  funding: boundedList(boundedRecord(z.string().max(2000), 100, Key), 100).optional(),
  require: texts.optional(),
  "require-dev": texts.optional(),
  conflict: texts.optional(),
  provide: texts.optional(),
  replace: texts.optional(),
  suggest: texts.optional(),
  autoload: anyObject.optional(),
  "autoload-dev": anyObject.optional(),
  "include-path": list.optional(),
  "target-dir": z.string().max(1000).optional(),
  bin: z.union([z.string().max(1000), list]).optional(),
  extra: anyObject.optional(),
  archive: anyObject.optional(),
  abandoned: z.union([z.boolean(), z.string().max(255)]).optional(),
});
/** The metadata of a version. */
export type ComposerPackage = z.infer<typeof ComposerPackage>;

/** A composer.json, as far as it is about what is published. */
export interface ParsedPackage {
  readonly metadata: ComposerPackage;
  /** The version that it states. */
  readonly version: string | undefined;
}

const Stated = z.object({ version: z.string().max(255).optional() });

/**
 * Parses a composer.json.
 *
 * @returns Undefined for anything else than a package with a valid name.
 * @see https://getcomposer.org/doc/04-schema.md
 */
export async function parsePackage(bytes: Uint8Array): Promise<ParsedPackage | undefined> {
  const json = await parseManifest(bytes);
  const metadata = ComposerPackage.safeParse(json);
  const stated = Stated.safeParse(json);
  if (!metadata.success || !stated.success) return undefined;
  return { metadata: metadata.data, version: stated.data.version };
}

async function parseManifest(bytes: Uint8Array): Promise<unknown> {
  try {
    return await parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    // Bytes that are not UTF-8, or a text that is not JSON.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
