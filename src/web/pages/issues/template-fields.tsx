import { raw } from "hono/html";

import type { Ctx } from "../../../context.ts";
import type { FormAnswers } from "../../../domain/issues/issue/issue-form.ts";
import {
  attributeOf,
  fieldNameOf,
  isFieldRequired,
  isSet,
  labelOf,
  optionsOf,
} from "../../../domain/issues/issue/issue-form.ts";
import type { FormField } from "../../../domain/issues/issue/issue-template.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { FormState } from "../create/form-state.ts";
import type { Form } from "../form.ts";
import { Fault, fieldAttributes } from "../layout.tsx";
import { renderComments } from "../markup.ts";
import { TEXT_CHARS_MAX, TextField } from "../text-field.tsx";
import { UserText } from "../user-text.tsx";

interface TemplateFieldsProps {
  repo: RepositoryContext;
  /** Whether its texts may have files. */
  hasFiles: boolean;
  fields: readonly FormField[];
  state: FormState;
  /** The value of a field that nobody has filled in: that of the address, or of the template. */
  initialOf: (field: FormField) => string;
  /** The texts of the template as HTML, by the ids of their fields. */
  html: ReadonlyMap<string, string>;
}

/** The texts of a form's fields as HTML, by their ids: those between the fields, and hints. */
export async function renderFields(
  ctx: Ctx,
  repo: RepositoryContext,
  fields: readonly FormField[],
): Promise<ReadonlyMap<string, string>> {
  const texts = fields.flatMap((field): [string, string][] => {
    const text = attributeOf(field, field.type === "markdown" ? "value" : "description");
    return text === "" ? [] : [[field.id, text]];
  });
  const html = await renderComments(
    ctx,
    repo,
    texts.map(([, text]) => text),
  );
  return new Map(texts.map(([id], at) => [id, html[at] ?? ""]));
}

/** The fields of a template that is a form. */
export function TemplateFields({ fields, ...props }: TemplateFieldsProps) {
  return fields
    .filter(({ visible }) => visible.includes("form"))
    .map((field) => <TemplateField field={field} {...props} />);
}

type TemplateFieldProps = Omit<TemplateFieldsProps, "fields"> & { field: FormField };

function TemplateField({ repo, hasFiles, field, state, initialOf, html }: TemplateFieldProps) {
  const name = fieldNameOf(field);
  const { fault } = state.of(name);
  if (field.type === "markdown") {
    return <UserText html={html.get(field.id) ?? ""} />;
  }
  const description = html.get(field.id);
  if (field.type === "textarea" && attributeOf(field, "render") === "") {
    return (
      <TextField
        repo={repo}
        label={labelOf(field)}
        name={name}
        value={state.valueOf(name, initialOf(field))}
        fault={fault}
        hint={description && raw(description)}
        placeholder={attributeOf(field, "placeholder")}
        isRequired={isFieldRequired(field)}
        hasFiles={hasFiles}
      />
    );
  }
  const shared = {
    id: name,
    name,
    required: isFieldRequired(field),
    ...fieldAttributes(name, fault, description),
  };
  return (
    <div class="field wide">
      {field.type === "checkboxes" ? undefined : <label for={name}>{labelOf(field)}</label>}
      {description === undefined ? undefined : (
        <div class="hint" id={`${name}-hint`}>
          {raw(description)}
        </div>
      )}
      {field.type === "checkboxes" ? (
        <fieldset>
          <legend>{labelOf(field)}</legend>
          {optionsOf(field).map(({ label, isRequired, isInForm }, at) =>
            isInForm ? (
              <label class="check">
                <input
                  type="checkbox"
                  name={`${name}-${at}`}
                  value="on"
                  required={isRequired}
                  checked={state.isSet(`${name}-${at}`, false)}
                />
                {label}
              </label>
            ) : undefined,
          )}
        </fieldset>
      ) : field.type === "dropdown" ? (
        <Dropdown field={field} state={state} shared={shared} />
      ) : field.type === "textarea" ? (
        <textarea
          {...shared}
          rows={6}
          maxlength={TEXT_CHARS_MAX}
          placeholder={attributeOf(field, "placeholder")}
        >
          {`\n${state.valueOf(name, initialOf(field))}`}
        </textarea>
      ) : (
        <input
          {...shared}
          type="text"
          maxlength={TEXT_CHARS_MAX}
          placeholder={attributeOf(field, "placeholder")}
          value={state.valueOf(name, initialOf(field))}
        />
      )}
      <Fault id={`${name}-fault`} text={fault} />
    </div>
  );
}

interface DropdownProps {
  field: FormField;
  state: FormState;
  shared: { id: string; name: string; required: boolean };
}

/** Choices of a field; as checkboxes where several may be chosen, which a phone shows better. */
function Dropdown({ field, state, shared }: DropdownProps) {
  const { name } = shared;
  const options = optionsOf(field);
  const { default: first } = field.attributes;
  if (isSet(field, "multiple")) {
    return (
      <fieldset id={name}>
        {options.map(({ label }, at) => (
          <label class="check">
            <input
              type="checkbox"
              name={`${name}-${at}`}
              value="on"
              checked={state.isSet(`${name}-${at}`, first === at)}
            />
            {label}
          </label>
        ))}
      </fieldset>
    );
  }
  const value = state.valueOf(name, typeof first === "number" ? String(first) : "");
  return (
    <select {...shared}>
      <option value="">Choose…</option>
      {options.map(({ label }, at) => (
        <option value={at} selected={String(at) === value}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** The answers that a form has for the fields of its template. */
export function readAnswers(fields: readonly FormField[], form: Form): FormAnswers {
  return new Map(
    fields.map((field) => {
      const name = fieldNameOf(field);
      const text = form.text(name).replaceAll("\r\n", "\n");
      const isChosen = (at: number) =>
        form.isSet(`${name}-${at}`) || (field.type === "dropdown" && text === String(at));
      const chosen = optionsOf(field).flatMap((_, at) => (isChosen(at) ? [at] : []));
      return [field.id, { text, chosen: new Set(chosen) }];
    }),
  );
}
