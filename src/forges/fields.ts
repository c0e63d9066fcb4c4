import { z } from "zod";

/** What a body, and any other field, has at most, in UTF-16 code units: far more than forges take. */
const LONG_MAX = 2_000_000;
const SHORT_MAX = 10_000;

/** Text as it can be stored: without NUL, and without halves of surrogate pairs. */
const clean = (text: string): string => text.replaceAll("\0", "").toWellFormed();

/** A name, title, address or the like. */
export const shortText = z.string().max(SHORT_MAX).transform(clean);
/** Markdown. */
export const longText = z.string().max(LONG_MAX).transform(clean);
/** As Go writes optional text: absent, null or "". */
export const optionalShort = shortText.nullish().transform((text) => text ?? "");
export const optionalLong = longText.nullish().transform((text) => text ?? "");

export const id = z.int();
export const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

/** A list that may be null or absent if it is empty. */
export const listOf = <T extends z.ZodType>(item: T, max = 10_000) =>
  z
    .array(item)
    .max(max)
    .nullish()
    .transform((items) => items ?? []);

const TIME_LENGTH_MAX = 40;
const date = z
  .string()
  .max(TIME_LENGTH_MAX)
  .refine((text) => !Number.isNaN(Date.parse(text)), "no time")
  .transform((text) => Date.parse(text));

/** RFC 3339, as milliseconds; times before 1970 are 0. */
export const time = date.transform((at) => Math.max(at, 0));
/** RFC 3339, as milliseconds; null if it is absent, empty, or the zero of Go or of Unix. */
export const timeOrNull = z
  .union([date, z.literal("")])
  .nullish()
  .transform((at) => (typeof at === "number" && at > 0 ? at : null));
