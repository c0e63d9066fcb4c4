import { z } from "@hono/zod-openapi";

/** Parameters that may be sent several times. */
const LISTS = new WeakSet<z.ZodType>();

/**
 * Whether a parameter of the query is a list; of another one that is sent twice, the first value
 * counts.
 */
export const isList = (parameter: z.ZodType | undefined): boolean =>
  parameter !== undefined && LISTS.has(parameter);

/** The words of a list in the query. */
export interface SentWords<Word extends string> {
  readonly isSent: boolean;
  /** In the order in which they are known. */
  readonly known: readonly Word[];
}

/**
 * A list in the query, as several parameters of one name or with commas. Unknown words count as
 * none, as in Gitea.
 */
export function queryWords<const Word extends string>(words: readonly Word[], description: string) {
  const parameter = z
    .union([z.string(), z.array(z.string())])
    .optional()
    .transform((sent): SentWords<Word> => {
      const all = [sent ?? []].flat().flatMap((text) => text.split(","));
      const known = words.filter((word) => all.includes(word));
      return { isSent: all.some((text) => text !== ""), known };
    })
    .openapi({
      type: "array",
      items: { type: "string", enum: [...words] },
      description,
      param: { style: "form", explode: true },
    });
  LISTS.add(parameter);
  return parameter;
}

/**
 * Ids of a list in the query, as several parameters of one name or with commas; 0 for a text that
 * is no id.
 */
export function queryIds(description: string, max: number) {
  const parameter = z
    .union([z.string(), z.array(z.string())])
    .optional()
    .transform((sent) => {
      const texts = [sent ?? []].flat().flatMap((text) => text.split(","));
      const ids = texts
        .filter((text) => text !== "")
        .map((text) => (/^\d{1,15}$/.test(text) ? Number(text) : 0));
      return [...new Set(ids)];
    })
    .refine((ids) => ids.length <= max, `must have at most ${max} ids`)
    .openapi({
      type: "array",
      items: { type: "integer", format: "int64" },
      description,
      param: { style: "form", explode: true },
    });
  LISTS.add(parameter);
  return parameter;
}
