import type { Ctx } from "../../../context.ts";
import { ACTION_VALUE_LIMITS } from "../../../domain/actions/action-values.ts";
import type { ActionsLevel } from "../../../domain/actions/level.ts";
import {
  deleteSecret,
  findSecret,
  listSecrets,
  setSecret,
} from "../../../domain/actions/secrets/secrets.ts";
import {
  createVariable,
  deleteVariable,
  editVariable,
  findVariable,
  listVariables,
} from "../../../domain/actions/variables/variables.ts";
import type { Listed, Slice } from "../../../domain/slice.ts";
import { Ago } from "../ago.tsx";
import { AreaField } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import type { Form } from "../form.ts";
import { Field, Notice } from "../layout.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { ActionForm, AskingForm } from "./settings-frame.tsx";
import type { SettingsPage, SettingsPart } from "./settings-part.ts";

const PAGE_SIZE = 50;
const { nameChars, descriptionChars } = ACTION_VALUE_LIMITS;

/** A secret or a variable on a page. */
interface ShownValue {
  readonly name: string;
  /** Undefined of a secret, which is never shown. */
  readonly value?: string;
  readonly description: string;
  readonly updatedAt: number;
}

interface SetValue {
  readonly value: string;
  readonly description: string;
}

/** What secrets and variables do differently. */
interface ValueKind {
  readonly noun: "secret" | "variable";
  readonly title: string;
  /** What jobs write to get it. */
  readonly usage: string;
  /** The field of the API that has the value. */
  readonly field: "data" | "value";
  readonly list: (ctx: Ctx, level: ActionsLevel, slice: Slice) => Promise<Listed<ShownValue>>;
  readonly find: (ctx: Ctx, level: ActionsLevel, name: string) => Promise<ShownValue>;
  readonly create: (
    ctx: Ctx,
    level: ActionsLevel,
    name: string,
    value: SetValue,
  ) => Promise<unknown>;
  readonly edit: (
    ctx: Ctx,
    level: ActionsLevel,
    name: string,
    value: SetValue & { readonly name: string },
  ) => Promise<unknown>;
  readonly delete: (ctx: Ctx, level: ActionsLevel, name: string) => Promise<void>;
}

const SECRETS: ValueKind = {
  noun: "secret",
  title: "Secrets",
  usage: "secrets.NAME",
  field: "data",
  list: listSecrets,
  find: findSecret,
  create: setSecret,
  edit: (ctx, level, name, { value, description }) =>
    setSecret(ctx, level, name, { value, description }),
  delete: deleteSecret,
};

const VARIABLES: ValueKind = {
  noun: "variable",
  title: "Variables",
  usage: "vars.NAME",
  field: "value",
  list: listVariables,
  find: findVariable,
  create: createVariable,
  edit: editVariable,
  delete: deleteVariable,
};

/** The parts of settings about secrets of Actions: their list and the form of each. */
export const secretParts = <P extends SettingsPage>(
  settings: string,
  levelOf: (page: P) => ActionsLevel,
) => valueParts(SECRETS, settings, levelOf);

/** The same about variables. */
export const variableParts = <P extends SettingsPage>(
  settings: string,
  levelOf: (page: P) => ActionsLevel,
) => valueParts(VARIABLES, settings, levelOf);

function valueParts<P extends SettingsPage>(
  kind: ValueKind,
  settings: string,
  levelOf: (page: P) => ActionsLevel,
): SettingsPart<P>[] {
  const { noun, title, usage, field } = kind;
  const link = `/actions/${noun}s`;
  /** SECURITY: the value of a secret is not shown again when the form is refused. */
  const valueState = (state: FormState): FormState =>
    noun === "secret" ? FormState.fresh({}, state.refusal) : state;

  const list: SettingsPart<P> = {
    path: settings + link,
    async show(page, forms, c) {
      const shown = readListPage(c, PAGE_SIZE);
      const { items, total } = await kind.list(page.ctx, levelOf(page), shown);
      const state = forms.of("create");
      return {
        title,
        link,
        body: (
          <>
            <p>
              Jobs write <code>{`\${{ ${usage} }}`}</code>.{" "}
              {total === 0 ? `There are no ${noun}s.` : `${total} in all, by name.`}
            </p>
            <ValueList page={page} noun={noun} to={page.path + link} values={items} />
            <Pager url={c.req.url} page={shown} total={total} />
            <section class="card form" aria-labelledby="new-value">
              <h3 id="new-value">{`Add a ${noun}`}</h3>
              {noun === "secret" && page.ctx.config.sealingKeys.length === 0 ? (
                <Notice kind="error">
                  The service has no key to seal secrets, so it stores none.{" "}
                  <a href="/docs/configuration">Its administrators set one.</a>
                </Notice>
              ) : undefined}
              <ActionForm page={page} to={page.path + link} action="create">
                <Field
                  label="Name"
                  {...state.of("name")}
                  maxlength={nameChars}
                  hint="Letters, digits and _; upper case. Not CI, and nothing that begins with GITHUB_ or GITEA_."
                />
                <ValueFields noun={noun} field={field} state={state} value={valueState(state)} />
                <button type="submit" class="primary">
                  {`Add ${noun}`}
                </button>
              </ActionForm>
            </section>
          </>
        ),
      };
    },
    actions: {
      async create(page, form) {
        const name = form.line("name", nameChars);
        await kind.create(page.ctx, levelOf(page), name, readValue(form, field));
        return page.path + link;
      },
      async delete(page, form) {
        await kind.delete(page.ctx, levelOf(page), form.text("name"));
        return page.path + link;
      },
    },
    fieldOf,
  };

  const one: SettingsPart<P> = {
    path: `${settings}${link}/:name`,
    async show(page, forms, c) {
      const found = await kind.find(page.ctx, levelOf(page), c.req.param("name") ?? "");
      const { name, value = "", description, updatedAt } = found;
      const state = forms.of("update", { name, [field]: value, description });
      return {
        title: name,
        link,
        body: (
          <section class="card form" aria-label={`The ${noun}`}>
            <p class="soft">
              Last set <Ago at={updatedAt} now={page.ctx.now} />.{" "}
              <a href={page.path + link}>{`All ${noun}s`}</a>
            </p>
            <ActionForm page={page} to={`${page.path}${link}/${name}`} action="update">
              {noun === "variable" ? (
                <Field label="Name" {...state.of("name")} maxlength={nameChars} />
              ) : undefined}
              <ValueFields noun={noun} field={field} state={state} value={valueState(state)} />
              <button type="submit" class="primary">
                {`Save ${noun}`}
              </button>
            </ActionForm>
          </section>
        ),
      };
    },
    actions: {
      async update(page, form, { c }) {
        const level = levelOf(page);
        const { name } = await kind.find(page.ctx, level, c.req.param("name") ?? "");
        const newName = form.line("name", nameChars) || name;
        await kind.edit(page.ctx, level, name, { name: newName, ...readValue(form, field) });
        return page.path + link;
      },
    },
    fieldOf,
  };

  return [list, one];
}

/** What a form sets. Browsers send line breaks as two characters. */
const readValue = (form: Form, field: ValueKind["field"]): SetValue => ({
  value: form.text(field).replaceAll("\r\n", "\n"),
  description: form.line("description", descriptionChars),
});

const fieldOf = (message: string): string | undefined =>
  /name/.test(message) ? "name" : undefined;

interface ValueFieldsProps extends Pick<ValueKind, "noun" | "field"> {
  state: FormState;
  /** The state of the field that has the value. */
  value: FormState;
}

function ValueFields({ noun, field, state, value }: ValueFieldsProps) {
  return (
    <>
      <AreaField
        state={value}
        label={noun === "secret" ? "New value" : "Value"}
        name={field}
        {...(noun === "secret" && { hint: "Nobody reads it again." })}
        isOptional={false}
      />
      <Field
        label="Description"
        {...state.of("description")}
        maxlength={descriptionChars}
        isOptional
      />
    </>
  );
}

interface ValueListProps {
  page: SettingsPage;
  noun: ValueKind["noun"];
  to: string;
  values: readonly ShownValue[];
}

function ValueList({ page, noun, to, values }: ValueListProps) {
  if (values.length === 0) return <></>;
  return (
    <ul class="box commits">
      {values.map(({ name, value, description, updatedAt }) => (
        <li>
          <div class="grow">
            <a href={`${to}/${name}`}>
              <code>{name}</code>
            </a>
            {value === undefined ? undefined : <pre class="secret">{excerpt(value)}</pre>}
            {description === "" ? undefined : <div>{description}</div>}
            <div class="soft">
              Last set <Ago at={updatedAt} now={page.ctx.now} />.
            </div>
          </div>
          <AskingForm
            page={page}
            to={to}
            action="delete"
            fields={{ name }}
            label="Delete"
            about={name}
          >
            <p>{`Jobs that need the ${noun} fail.`}</p>
          </AskingForm>
        </li>
      ))}
    </ul>
  );
}

/** Maximum characters of a value in the list. */
const EXCERPT_CHARS_MAX = 200;

const excerpt = (value: string): string =>
  value.length > EXCERPT_CHARS_MAX ? `${value.slice(0, EXCERPT_CHARS_MAX)}…` : value;
