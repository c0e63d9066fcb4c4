import type { Label } from "../../../db/schema/index.ts";
import { exclusiveScopeOf } from "../../../domain/issues/issue/exclusive-scope.ts";
import type { LabelFields } from "../../../domain/repos/labels/create-label.ts";
import { invalidField } from "../../../lib/failure.ts";
import { CheckField, GeneralFault } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form as SentForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { LabelChip } from "./label.tsx";

/** Characters of the fields, as the API has them. */
const CHARS_MAX = { name: 255, hex: 16, description: 2048 };

/** The color that a new label has before its creator chooses one. */
const FIRST_COLOR = "#1d76db";

/** The script of a page with the form. */
export const LABEL_SCRIPT = "label.ts";

/**
 * The label that a form describes.
 *
 * @throws Failure `invalid`.
 */
export function toLabelFields(form: SentForm): LabelFields {
  const name = form.line("name", CHARS_MAX.name);
  if (name === "") throw invalidField("name", "must not be empty");
  if (/\p{Cc}/u.test(name)) throw invalidField("name", "must not contain control characters");
  const isExclusive = form.isSet("exclusive");
  if (isExclusive && exclusiveScopeOf({ name, isExclusive }) === undefined) {
    throw invalidField("name", "must have a scope before a slash, since the label is exclusive");
  }
  return {
    name,
    color: form.line("hex", CHARS_MAX.hex) || form.text("color"),
    description: form.line("description", CHARS_MAX.description),
    isExclusive,
    isArchived: form.isSet("is_archived"),
  };
}

/** The fields of the form for a label. */
export const toLabelForm = (label: Label): Record<string, string> => ({
  name: label.name,
  color: `#${label.color}`,
  description: label.description,
});

interface LabelFormProps {
  action: string;
  formToken: string;
  state: FormState;
  /** The label that is edited; undefined for a new one. */
  label: Label | undefined;
}

/** The form for a label. Its color is chosen, or typed as digits, which count if there are any. */
export function LabelForm({ action, formToken, state, label }: LabelFormProps) {
  const color = state.of("color").value || FIRST_COLOR;
  const [isExclusive, isArchived] = [
    state.isSet("exclusive", label?.isExclusive ?? false),
    state.isSet("is_archived", (label?.archivedAt ?? null) !== null),
  ];
  const shown = {
    name: state.of("name").value || "Label",
    color: color.slice(1),
    description: "",
    isExclusive,
    archivedAt: isArchived ? 0 : null,
  };
  return (
    <>
      <GeneralFault state={state} fields={["name", "hex", "description"]} />
      <Form action={action} formToken={formToken}>
        <Field
          label="Name"
          {...state.of("name")}
          maxlength={CHARS_MAX.name}
          hint="Exclusive labels need a scope before a slash: Priority/High."
          isFirst
        />
        <Field
          label="Description"
          {...state.of("description")}
          maxlength={CHARS_MAX.description}
          isOptional
        />
        <Field label="Color" name="color" type="color" value={color} />
        <Field
          label="Color as hex digits"
          {...state.of("hex")}
          maxlength={CHARS_MAX.hex}
          hint="Three or six, such as #1d76db. They count instead of the color above."
          isOptional
        />
        <p>
          Preview: <LabelChip label={shown} />
        </p>
        <fieldset>
          <legend>Options</legend>
          <CheckField
            state={state}
            label="Exclusive: an issue has at most one such label of the scope"
            name="exclusive"
            isSetAtFirst={isExclusive}
          />
          <CheckField
            state={state}
            label="Archived: it stays where it is, and is offered no more"
            name="is_archived"
            isSetAtFirst={isArchived}
          />
        </fieldset>
        <button type="submit" class="primary">
          {label ? "Save label" : "Create label"}
        </button>
      </Form>
    </>
  );
}
