import { z } from "zod";

import { readYaml } from "../../../lib/yaml.ts";

/** Aliases that are expanded in a file. */
const ALIASES_MAX = 10;

const Filled = z.string().refine((text) => text.trim() !== "");
const Text = z.string().optional();
const Flag = z.boolean().optional();

/** The places where a field is shown: the form, and the text of the issue. */
const Places = z.array(z.enum(["form", "content"])).optional();
const isInForm = (places: readonly string[] | undefined): boolean =>
  places === undefined || places.includes("form");

const Required = z.looseObject({ required: Flag });
const Box = z
  .looseObject({ label: Filled, required: Flag, visible: Places })
  .refine(({ required, visible }) => !required || isInForm(visible));
const Labelled = { label: Filled, description: Text };
const Field = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("markdown"), attributes: z.looseObject({ value: Filled }) }),
  z.looseObject({
    type: z.literal("textarea"),
    attributes: z.looseObject({ ...Labelled, placeholder: Text, value: Text, render: Text }),
    validations: Required.optional(),
  }),
  z.looseObject({
    type: z.literal("input"),
    attributes: z.looseObject({ ...Labelled, placeholder: Text, value: Text }),
    validations: Required.extend({ is_number: Flag, regex: Text }).optional(),
  }),
  z.looseObject({
    type: z.literal("dropdown"),
    attributes: z
      .looseObject({
        ...Labelled,
        multiple: Flag,
        list: Flag,
        options: z.array(z.string()).min(1),
        default: z.int().min(0).nullish(),
      })
      .refine(({ options, default: chosen }) => (chosen ?? 0) < options.length),
    validations: Required.optional(),
  }),
  z.looseObject({
    type: z.literal("checkboxes"),
    attributes: z.looseObject({
      ...Labelled,
      options: z.array(Box).min(1),
    }),
  }),
]);

/** Properties common to fields of every type. */
const Common = z.looseObject({
  id: z
    .union([z.string(), z.number()])
    .transform(String)
    .pipe(z.string().regex(/^[\w-]*$/))
    .optional(),
  visible: Places,
});

const splitList = (text: string): string[] => text.split(",").map((item) => item.trim());
const StringList = z
  .union([z.array(z.string()), z.string().transform(splitList)])
  .nullish()
  .transform((list) => (list ?? []).filter((item) => item !== ""));

const Head = z.looseObject({
  name: z.string().default(""),
  title: z.string().nullish(),
  about: z.string().nullish(),
  description: z.string().nullish(),
  labels: StringList,
  assignees: StringList,
  ref: z.string().nullish(),
});
const Form = Head.extend({ body: z.array(Field.and(Common)).min(1) });

/** A field of a form, with its attributes as the file has them. */
export interface FormField {
  type: string;
  id: string;
  attributes: Record<string, unknown>;
  validations: Record<string, unknown>;
  visible: string[];
}

/** A template for new issues: a Markdown text, or a form with fields. */
export interface IssueTemplate {
  path: string;
  name: string;
  about: string;
  title: string;
  labels: string[];
  assignees: string[];
  /** The full name of a branch or tag, or "". */
  ref: string;
  content: string;
  fields: FormField[] | undefined;
}

/** Characters of a template without front matter that serve as its description. */
const ABOUT_CHARS_MAX = 80;

/** Parses a Markdown or form template; undefined if it is invalid. */
export async function readIssueTemplate(
  path: string,
  text: string,
): Promise<IssueTemplate | undefined> {
  const template = await (/\.md$/i.test(path) ? readText(path, text) : readForm(path, text));
  const isNamed = template && template.name.trim() !== "" && template.about.trim() !== "";
  return isNamed ? template : undefined;
}

/**
 * Parses the template of pull requests, which needs no name: a Markdown text, or a form; undefined
 * for an invalid form.
 */
export async function readPullTemplate(
  path: string,
  text: string,
): Promise<IssueTemplate | undefined> {
  if (!/\.md$/i.test(path)) return readForm(path, text);
  const { data } = Head.safeParse({});
  return (
    (await readIssueTemplate(path, text)) ??
    (data && { ...toTemplate(path, data), content: text, fields: undefined })
  );
}

async function readText(path: string, text: string): Promise<IssueTemplate> {
  const [, front = "", content = ""] =
    /^---[ \t]*\r?\n([^]*?)^---[ \t]*(?:\r?\n([^]*))?$(?![^])/m.exec(text) ?? [];
  const head = front === "" ? undefined : Head.safeParse(await parseOptionalYaml(front)).data;
  if (head) return { ...toTemplate(path, head), content, fields: undefined };
  const name = path.slice(path.lastIndexOf("/") + 1);
  const about = Array.from(text).slice(0, ABOUT_CHARS_MAX).join("");
  return {
    ...toTemplate(path, Head.parse({ name, about })),
    content: text,
    fields: undefined,
  };
}

async function readForm(path: string, text: string): Promise<IssueTemplate | undefined> {
  const { data: form } = Form.safeParse(await parseOptionalYaml(text));
  if (!form) return undefined;
  // Nobody could fill in a required field that is hidden.
  const isHidden = form.body.some(
    (field) =>
      "validations" in field &&
      (field.validations as { required?: boolean } | undefined)?.required === true &&
      !isInForm(field.visible),
  );
  if (isHidden) return undefined;
  const fields = form.body.map((field, at): FormField => {
    const isSubmitted = field.type !== "markdown";
    return {
      type: field.type,
      id: field.id || String(at),
      attributes: field.attributes,
      validations:
        "validations" in field ? ((field.validations as FormField["validations"]) ?? {}) : {},
      visible: field.visible ?? (isSubmitted ? ["form", "content"] : ["form"]),
    };
  });
  const ids = fields.filter(({ type }) => type !== "markdown").map(({ id }) => id);
  if (new Set(ids).size < ids.length) return undefined;
  return { ...toTemplate(path, form), content: "", fields };
}

/** Undefined for invalid YAML. */
async function parseOptionalYaml(text: string): Promise<unknown> {
  try {
    return await readYaml(text, "core", ALIASES_MAX);
  } catch {
    return undefined;
  }
}

function toTemplate(path: string, head: z.infer<typeof Head>) {
  const ref = head.ref ?? "";
  return {
    path,
    name: head.name,
    about: head.about || head.description || "",
    title: head.title ?? "",
    labels: head.labels,
    assignees: head.assignees,
    ref: ref === "" || ref.startsWith("refs/") ? ref : `refs/heads/${ref}`,
  };
}
