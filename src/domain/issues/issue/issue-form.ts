import { invalidField } from "../../../lib/failure.ts";
import type { FormField } from "./issue-template.ts";

/** What somebody entered in a field of a form: a text, or the positions of chosen options. */
interface FormAnswer {
  readonly text: string;
  readonly chosen: ReadonlySet<number>;
}

/** The answers of a form, by the ids of its fields. */
export type FormAnswers = ReadonlyMap<string, FormAnswer>;

const NO_ANSWER: FormAnswer = { text: "", chosen: new Set() };

/** An option of a dropdown, or a checkbox. */
export interface FieldOption {
  readonly label: string;
  readonly isRequired: boolean;
  readonly isInForm: boolean;
  readonly isInText: boolean;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const labelOf = ({ attributes }: FormField): string => textOf(attributes["label"]);
export const attributeOf = ({ attributes }: FormField, name: string): string =>
  textOf(attributes[name]);
export const isSet = ({ attributes }: FormField, name: string): boolean =>
  attributes[name] === true;
export const isFieldRequired = ({ validations }: FormField): boolean =>
  validations["required"] === true;

/** The options of a field: of a dropdown texts, of checkboxes objects. */
export function optionsOf({ attributes }: FormField): FieldOption[] {
  const { options } = attributes;
  if (!Array.isArray(options)) return [];
  return options.map((option: unknown): FieldOption => {
    if (typeof option === "string") {
      return { label: option, isRequired: false, isInForm: true, isInText: true };
    }
    const { label, required, visible } = option as Record<string, unknown>;
    const places = Array.isArray(visible) ? visible : ["form", "content"];
    return {
      label: textOf(label),
      isRequired: required === true,
      isInForm: places.includes("form"),
      isInText: places.includes("content"),
    };
  });
}

/** Characters of an answer that a template's pattern is tried on. */
const PATTERN_CHARS_MAX = 255;

/**
 * The text of an issue that was opened by a form: each field as a heading with its answer, in
 * Gitea's form.
 *
 * @throws Failure `invalid` for an answer that is missing, or not of the kind that its field asks
 *   for.
 */
export async function toFormText(
  fields: readonly FormField[],
  answers: FormAnswers,
): Promise<string> {
  const parts: string[] = [];
  for (const field of fields) {
    const answer = answers.get(field.id) ?? NO_ANSWER;
    await checkAnswer(field, answer);
    if (!field.visible.includes("content")) continue;
    const isTitled = field.type !== "markdown" && !isSet(field, "hide_label");
    const heading = isTitled ? `### ${labelOf(field)}\n\n` : "";
    parts.push(`${heading}${answerText(field, answer)}\n`);
  }
  return parts.join("\n");
}

const BLANK = "_No response_";

/** The answer of a field in Markdown. */
function answerText(field: FormField, { text, chosen }: FormAnswer): string {
  const options = optionsOf(field);
  const answer = text.trim();
  if (field.type === "markdown") return attributeOf(field, "value");
  if (field.type === "checkboxes") {
    return options
      .flatMap(({ label, isInText }, at) =>
        isInText ? [`- [${chosen.has(at) ? "x" : " "}] ${label}`] : [],
      )
      .join("\n");
  }
  if (field.type === "dropdown") {
    const labels = options.filter((_, at) => chosen.has(at)).map(({ label }) => label);
    if (labels.length === 0) return BLANK;
    if (isSet(field, "list")) return labels.map((label) => `- ${label}`).join("\n");
    return labels.join(", ");
  }
  if (answer === "") return BLANK;
  const language = attributeOf(field, "render");
  if (field.type !== "textarea" || language === "") return answer;
  const fence = "`".repeat(Math.max(3, longestRun(answer) + 1));
  return `${fence}${language}\n${answer}\n${fence}`;
}

const longestRun = (text: string): number =>
  Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));

/** @throws Failure `invalid`. */
async function checkAnswer(field: FormField, { text, chosen }: FormAnswer): Promise<void> {
  const refuse = (rule: string) => invalidField(fieldNameOf(field), rule);
  const options = optionsOf(field);
  if (field.type === "checkboxes") {
    const missing = options.find(({ isRequired }, at) => isRequired && !chosen.has(at));
    if (missing) throw refuse(`must be ticked: ${missing.label}`);
    return;
  }
  if (field.type === "markdown" || !field.visible.includes("form")) return;
  const answer = text.trim();
  const isEmpty = field.type === "dropdown" ? chosen.size === 0 : answer === "";
  if (isEmpty) {
    if (isFieldRequired(field)) throw refuse("must not be empty");
    return;
  }
  if (field.type === "dropdown" && chosen.size > 1 && !isSet(field, "multiple")) {
    throw refuse("must be one of the choices");
  }
  const { is_number: isNumber, regex } = field.validations;
  if (isNumber === true && !/^[+-]?\d+(?:\.\d+)?$/.test(answer)) throw refuse("must be a number");
  if (typeof regex === "string" && !(await isMatch(regex, answer))) {
    throw refuse(`must match ${regex}`);
  }
}

/** The name of a form's field in a page and in refusals. */
export const fieldNameOf = ({ id }: FormField): string => `form-field-${id}`;

/** Whether an answer matches a template's pattern, in RE2; true for a text that is no pattern. */
async function isMatch(pattern: string, answer: string): Promise<boolean> {
  const { openShortPattern } = await import("../../../render/linear-pattern.ts");
  return openShortPattern(pattern)?.matches(answer.slice(0, PATTERN_CHARS_MAX)) ?? true;
}
