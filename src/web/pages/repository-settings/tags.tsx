import type { TagProtection } from "../../../db/schema/index.ts";
import { matchTags } from "../../../domain/code/protections/match-refs.ts";
import { loadRules } from "../../../domain/code/protections/select-rules.ts";
import {
  createTagProtection,
  deleteTagProtection,
  editTagProtection,
  findTagProtection,
  peopleOf,
} from "../../../domain/code/protections/tag-protections.ts";
import { requireNotArchived } from "../../../domain/issues/issue/require-issue-access.ts";
import { namesOf, type RuleNames } from "../../../shapes/repos/rule-names.ts";
import type { FormState } from "../create/form-state.ts";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { NAMES_CHARS_MAX, readNames } from "../owner-settings/read-names.ts";
import { ActionForm, AskingForm } from "../owner-settings/settings-frame.tsx";
import { readId } from "../read-id.ts";
import { listTagNames } from "./ref-names.ts";
import { Matched } from "./matched.tsx";
import { type RepositorySettingsPart, SETTINGS } from "./page.tsx";

const PATTERN_MAX = 255;

/** The rules for tags, with those that each is about now. */
export const tags: RepositorySettingsPart = {
  path: `${SETTINGS}/tags`,
  async show(page, forms) {
    const { ctx, repo, path } = page;
    const [rules, names] = await Promise.all([loadRules(ctx, repo), listTagNames(ctx, repo)]);
    const own = rules.tags.toSorted((a, b) => a.id - b.id);
    const matched = await matchTags(ctx, rules, names);
    const to = `${path}/tags`;
    return {
      title: "Rules for tags",
      link: "/tags",
      body: (
        <>
          {own.length === 0 ? <p>No tag is protected.</p> : undefined}
          {own.length === 0 ? undefined : (
            <ul class="box commits">
              {own.map(({ id, namePattern }) => (
                <li>
                  <div class="grow">
                    <code>{namePattern}</code>
                    <Matched matched={matched} id={id} kind="tag" />
                  </div>
                  <a class="button small" href={`${to}/${id}`}>
                    Edit<span class="hidden">{` ${namePattern}`}</span>
                  </a>
                  <AskingForm
                    page={page}
                    to={to}
                    action="delete"
                    fields={{ id }}
                    label="Delete"
                    about={namePattern}
                  />
                </li>
              ))}
            </ul>
          )}
          <section class="card form" aria-labelledby="new-rule">
            <h3 id="new-rule">New rule</h3>
            <ActionForm page={page} to={to} action="create">
              <TagFields state={forms.of("create")} />
              <button type="submit" class="primary">
                Create rule
              </button>
            </ActionForm>
          </section>
        </>
      ),
    };
  },
  actions: {
    async create({ ctx, repo, path }, form) {
      requireNotArchived(repo);
      await createTagProtection(ctx, repo, readTagRule(form));
      return `${path}/tags`;
    },
    async delete({ ctx, repo, path }, form) {
      const rule = await findTagProtection(ctx, repo, readId(form.text("id")));
      await deleteTagProtection(ctx, repo, rule);
      return `${path}/tags`;
    },
  },
  fieldOf,
};

/** The form for a rule for tags. */
export const tagRule: RepositorySettingsPart = {
  path: `${SETTINGS}/tags/:id`,
  async show(page, forms, c) {
    const { ctx, repo, path } = page;
    const rule = await findTagProtection(ctx, repo, readId(c.req.param("id") ?? ""));
    const { names } = await peopleOf(ctx, repo, [rule]);
    return {
      title: `Rule for ${rule.namePattern}`,
      link: "/tags",
      body: (
        <section class="card form" aria-label="The rule">
          <ActionForm page={page} to={`${path}/tags/${rule.id}`} action="save">
            <TagFields state={forms.of("save", toFields(rule, names))} />
            <button type="submit" class="primary">
              Save rule
            </button>
          </ActionForm>
        </section>
      ),
    };
  },
  actions: {
    async save({ ctx, repo, path }, form, { c }) {
      requireNotArchived(repo);
      const rule = await findTagProtection(ctx, repo, readId(c.req.param("id") ?? ""));
      await editTagProtection(ctx, repo, rule, readTagRule(form));
      return `${path}/tags`;
    },
  },
  fieldOf,
};

function fieldOf(message: string): string | undefined {
  if (/already exist/.test(message)) return "name_pattern";
  if (message.startsWith("team")) return "whitelist_teams";
  return /user|both/.test(message) ? "whitelist_usernames" : undefined;
}

const readTagRule = (form: Form) => ({
  namePattern: form.line("name_pattern", PATTERN_MAX),
  users: readNames(form, "whitelist_usernames"),
  teams: readNames(form, "whitelist_teams"),
});

const toFields = (rule: TagProtection, { users, teams }: RuleNames) => ({
  name_pattern: rule.namePattern,
  whitelist_usernames: namesOf(users, rule.userIds).join(", "),
  whitelist_teams: namesOf(teams, rule.teamIds).join(", "),
});

function TagFields({ state }: { state: FormState }) {
  return (
    <>
      <Field
        label="Pattern of tags"
        {...state.of("name_pattern")}
        maxlength={PATTERN_MAX}
        hint="Such as v*, or a regular expression in slashes."
      />
      <Field
        label="Users who may create, move and delete them"
        {...state.of("whitelist_usernames")}
        maxlength={NAMES_CHARS_MAX}
        hint="Names, separated by commas. Nobody else may, administrators included."
        isOptional
      />
      <Field
        label="Teams who may"
        {...state.of("whitelist_teams")}
        maxlength={NAMES_CHARS_MAX}
        isOptional
      />
    </>
  );
}
