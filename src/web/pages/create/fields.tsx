import type { User } from "../../../db/schema/index.ts";
import { fieldAttributes, Fault, Hint, Notice } from "../layout.tsx";
import type { FormState } from "./form-state.ts";

/** The limits of the API's fields. */
export const NAME_CHARS_MAX = 100;
export const DESCRIPTION_CHARS_MAX = 2048;

/** The refusal of a form that none of its fields shows. */
export function GeneralFault({ state, fields }: { state: FormState; fields: readonly string[] }) {
  const text = state.generalFault(...fields);
  return text === undefined ? <></> : <Notice kind="error">{text}</Notice>;
}

interface SelectFieldProps {
  state: FormState;
  label: string;
  name: string;
  /** The values, with what is shown for each. */
  options: readonly (readonly [value: string, label: string])[];
  hint?: string;
}

/** A labelled choice of a form. */
export function SelectField({ state, label, name, options, hint }: SelectFieldProps) {
  const { value, fault } = state.of(name);
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name} {...fieldAttributes(name, fault, hint)}>
        {options.map(([each, shown]) => (
          <option value={each} selected={each === value}>
            {shown}
          </option>
        ))}
      </select>
      <Fault id={`${name}-fault`} text={fault} />
      <Hint id={`${name}-hint`} text={hint} />
    </div>
  );
}

/** The choice of an account that owns what the form creates. */
export function OwnerField({ state, owners }: { state: FormState; owners: readonly User[] }) {
  return (
    <SelectField
      state={state}
      label="Owner"
      name="owner"
      options={owners.map(({ name }) => [name, name])}
    />
  );
}

interface AreaFieldProps {
  state: FormState;
  label: string;
  name: string;
  rows?: number;
  hint?: string;
  isOptional?: boolean;
  maxlength?: number;
}

/** A labelled field of several lines, for what is no Markdown. */
export function AreaField(props: AreaFieldProps) {
  const { state, label, name, rows = 3, hint, isOptional = true, maxlength } = props;
  const { value, fault } = state.of(name);
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <textarea
        id={name}
        name={name}
        rows={rows}
        maxlength={maxlength}
        required={!isOptional}
        spellcheck={false}
        {...fieldAttributes(name, fault, hint)}
      >{`\n${value}`}</textarea>
      <Fault id={`${name}-fault`} text={fault} />
      <Hint id={`${name}-hint`} text={hint} />
    </div>
  );
}

interface CheckFieldProps {
  state: FormState;
  label: string;
  name: string;
  isSetAtFirst?: boolean;
}

/** A labelled checkbox of a form. */
export function CheckField({ state, label, name, isSetAtFirst = false }: CheckFieldProps) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value="on" checked={state.isSet(name, isSetAtFirst)} />
      {label}
    </label>
  );
}

interface ChoiceFieldProps {
  state: FormState;
  legend: string;
  name: string;
  /** The values, each with its name and what it means; the first is the usual one. */
  options: readonly (readonly [value: string, label: string, meaning: string])[];
}

/** A choice of a form whose values need an explanation. */
export function ChoiceField({ state, legend, name, options }: ChoiceFieldProps) {
  const value = state.of(name).value || options[0]?.[0];
  return (
    <fieldset>
      <legend>{legend}</legend>
      {options.map(([each, label, meaning]) => (
        <label class="check">
          <input type="radio" name={name} value={each} checked={each === value} />
          <span>
            <strong>{label}</strong> <span class="soft">{meaning}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The choice of who sees a repository. */
export function RepositoryVisibility({ state }: { state: FormState }) {
  return (
    <ChoiceField
      state={state}
      legend="Visibility"
      name="visibility"
      options={[
        ["public", "Public", "Everybody sees it who sees its owner."],
        ["private", "Private", "You choose who sees it."],
      ]}
    />
  );
}

/** Fields by what the refusals of repositories say, where these name no field. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/forked|owner|limit|allowed to create|organization/i, "owner"],
  [/license/i, "license"],
  [/gitignore/i, "gitignores"],
  [/branch/i, "default_branch"],
  [/name/i, "name"],
];

/** The field of a form for a repository that a refusal is about. */
export const repositoryFieldOf = (message: string): string | undefined =>
  FIELDS.find(([pattern]) => pattern.test(message))?.[1];
