import { z } from "@hono/zod-openapi";

type Issue = z.core.$ZodRawIssue;

/** How messages name the JSON types. The API has no fractions. */
const TYPES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "an integer",
  number: "an integer",
  object: "an object",
  record: "an object",
  string: "a string",
};

/**
 * How messages name the formats of strings. A schema with a pattern brings a message of its own.
 */
const FORMATS: Readonly<Record<string, string>> = {
  datetime: "a time in RFC 3339, such as 2026-01-31T08:15:00Z",
  email: "an e-mail address",
  url: "a URL with http or https",
};

/** How messages count what has a length. */
const UNITS: Readonly<Record<string, string>> = { array: "items", string: "characters" };

/**
 * Words the rule that a field breaks, to follow the field's name: "must have at most 100
 * characters".
 *
 * The message of a schema's own check, such as that of `refine`, takes precedence.
 */
function wordRule(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${nameOf(TYPES, issue.expected)}`;
    case "too_big":
      return wordBound("at most", issue.maximum, issue.origin);
    case "too_small":
      return issue.minimum === 1 && issue.origin in UNITS
        ? "must not be empty"
        : wordBound("at least", issue.minimum, issue.origin);
    case "invalid_format":
      return `must be ${nameOf(FORMATS, issue.format)}`;
    case "invalid_value": {
      if (issue.input === undefined) return "is required";
      const values = issue.values.filter((value) => value !== "").map(String);
      return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(", ")}`;
    }
    default:
      return "must have another value";
  }
}

function wordBound(bound: string, limit: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  return unit === undefined ? `must be ${bound} ${limit}` : `must have ${bound} ${limit} ${unit}`;
}

const nameOf = (names: Readonly<Record<string, string>>, key: string): string =>
  names[key] ?? "of another form";

/** Words all messages of the validator, whose own texts name neither the field nor our terms. */
export function wordValidation(): void {
  z.config({ customError: wordRule });
}
