/** A value of a JSON document. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * Rewrites each nullable reference of an OpenAPI 3.1 document as `oneOf` of the reference and null.
 *
 * The generator writes `allOf: [{ $ref }, { type: ["object", "null"] }]`, which null does not
 * satisfy, since the referenced schema refuses it.
 */
export function refineNullableReferences<Document extends object>(document: Document): Document {
  return refine(document as Json) as Document;
}

function refine(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(refine);
  const { allOf, ...rest } = value as { readonly [name: string]: Json };
  const [reference, facets] = Array.isArray(allOf) && allOf.length === 2 ? allOf : [];
  if (isObject(reference) && "$ref" in reference && isObject(facets) && isNullable(facets)) {
    const { type: _, ...described } = facets;
    return { ...rest, oneOf: [reference, { type: "null" }], ...described };
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, refine(each)]));
}

type JsonObject = { readonly [name: string]: Json };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isNullable = ({ type }: JsonObject): boolean => Array.isArray(type) && type.includes("null");
