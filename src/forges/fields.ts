import { z } from "zod";

import { boundedList } from "../lib/bounded.ts";

/** The maximum length of a field in UTF-16 code units, far above the limits of forges. */
const LONG_MAX = 2_000_000;
const SHORT_MAX = 10_000;

/** Text as it can be stored: without NUL, and without halves of surrogate pairs. */
const clean = (text: string): string => text.replaceAll("\0", "").toWellFormed();

/** Characters that no name has: they would change what is shown, in terminals too. */
// oxlint-disable-next-line no-control-regex -- They are what is looked for.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

const oneLine = (text: string): string => text.replaceAll(CONTROLS, "").toWellFormed();

/** A name, title, address or the like: of one line. */
export const shortText = z.string().max(SHORT_MAX).transform(oneLine);
/** A title, which some forges do not limit. */
export const titleText = z.string().max(LONG_MAX).transform(oneLine);
/** Markdown. */
export const longText = z.string().max(LONG_MAX).transform(clean);
/** As Go writes optional text: absent, null or "". */
export const optionalShort = shortText.nullish().transform((text) => text ?? "");
export const optionalTitleText = titleText.nullish().transform((text) => text ?? "");
export const optionalLong = longText.nullish().transform((text) => text ?? "");

export const id = z.int();
/**
 * The number of an issue or pull request: forges count in four bytes, and the next one here must
 * still be a number.
 */
export const issueNumber = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);
export const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

/** A list that may be null or absent if it is empty. */
export const listOf = <T>(item: z.ZodType<T>, max = 10_000) =>
  boundedList(item, max)
    .nullish()
    .transform((items) => items ?? []);

const TIME_LENGTH_MAX = 40;
/** The last time that RFC 3339 can write. */
const TIME_MAX = Date.UTC(9999, 11, 31, 23, 59, 59);
const date = z
  .string()
  .max(TIME_LENGTH_MAX)
  .refine((text) => !Number.isNaN(Date.parse(text)), "no time")
  .transform((text) => Math.min(Date.parse(text), TIME_MAX));

/** RFC 3339, as milliseconds; times before 1970 are 0. */
export const time = date.transform((at) => Math.max(at, 0));
/** RFC 3339, as milliseconds; null if it is absent, empty, or the zero of Go or of Unix. */
export const timeOrNull = z
  .union([date, z.literal("")])
  .nullish()
  .transform((at) => (typeof at === "number" && at > 0 ? at : null));
