import { createRule, deleteRule, editRule } from "../../../domain/code/protections/change-rules.ts";
import {
  findRuleset,
  listRulesets,
  readRuleset,
} from "../../../domain/code/protections/list-rules.ts";
import { PATTERNS_CHARS_MAX } from "../../../domain/code/protections/protection-options.ts";
import { conflict } from "../../../lib/failure.ts";
import type { Form } from "../form.ts";
import {
  NEW_RULE,
  readRule,
  requireSeenRule,
  RULE_NAME_MAX,
  RuleFields,
  toRuleForm,
} from "../owner-settings/rule-form.tsx";
import { RuleSummary } from "../owner-settings/rule-summary.tsx";
import { ActionForm, AskingForm } from "../owner-settings/settings-frame.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import {
  ORG_SETTINGS,
  type OrganizationSettingsPage as Page,
  type OrganizationSettingsPart,
} from "./page.tsx";

const PAGE_SIZE = 50;
const LINK = "/rulesets";

const scopeOf = ({ account: org }: Page) => ({ kind: "organization", org }) as const;

const readRulesetForm = (form: Form) => ({
  ...readRule(form),
  repositoryPatterns: form.line("repository_patterns", PATTERNS_CHARS_MAX),
});

/** The rules for branches of all repositories of an organization. */
export const rulesets: OrganizationSettingsPart = {
  path: `${ORG_SETTINGS}/rulesets`,
  async show(page, _forms, c) {
    const { ctx, account, path } = page;
    const list = readListPage(c, PAGE_SIZE);
    const { items, total } = await listRulesets(ctx, account, list);
    const to = path + LINK;
    return {
      title: "Rules for branches",
      link: LINK,
      body: (
        <>
          <p>
            They apply besides those of the repositories: what one of the two does not allow is not
            allowed.
          </p>
          <p>
            <a class="button" href={`${to}/new`}>
              New rule
            </a>
          </p>
          {items.length === 0 ? <p class="soft">There is none.</p> : undefined}
          {items.length === 0 ? undefined : (
            <ul class="box commits">
              {items.map((rule) => (
                <li>
                  <div class="grow">
                    <code>{rule.name}</code>
                    <RuleSummary rule={rule} />
                    <div class="soft">
                      {rule.repositoryPatterns === ""
                        ? "In all repositories"
                        : `In repositories ${rule.repositoryPatterns}`}
                    </div>
                  </div>
                  <a class="button small" href={`${to}/${rule.id}`}>
                    Edit<span class="hidden">{` ${rule.name}`}</span>
                  </a>
                  <AskingForm
                    page={page}
                    to={to}
                    action="delete"
                    fields={{ id: rule.id }}
                    label="Delete"
                    about={rule.name}
                  />
                </li>
              ))}
            </ul>
          )}
          <Pager url={c.req.url} page={list} total={total} />
        </>
      ),
    };
  },
  actions: {
    async delete(page, form) {
      const rule = await findRuleset(page.ctx, page.account, readId(form.text("id")));
      await deleteRule(page.ctx, scopeOf(page), rule);
      return page.path + LINK;
    },
  },
};

/** The form for a new rule. */
export const newRuleset: OrganizationSettingsPart = {
  path: `${ORG_SETTINGS}/rulesets/new`,
  show: async (page, forms) => ({
    title: "New rule for branches",
    link: LINK,
    body: (
      <section class="card form" aria-label="The rule">
        <ActionForm page={page} to={`${page.path}${LINK}/new`} action="create">
          <RuleFields state={forms.of("create", NEW_RULE)} rule={undefined} isRuleset />
          <button type="submit" class="primary">
            Create rule
          </button>
        </ActionForm>
      </section>
    ),
  }),
  actions: {
    async create(page, form) {
      const taken = conflict("[rule_name]: must not have a rule already");
      const name = form.line("rule_name", RULE_NAME_MAX);
      await createRule(page.ctx, scopeOf(page), name, readRulesetForm(form), taken);
      return page.path + LINK;
    },
  },
};

/** The form for a rule. */
export const ruleset: OrganizationSettingsPart = {
  path: `${ORG_SETTINGS}/rulesets/:id`,
  async show(page, forms, c) {
    const { ctx, account, path } = page;
    const id = readId(c.req.param("id") ?? "");
    const { rule, people } = await readRuleset(ctx, account, id);
    return {
      title: `Rule for ${rule.name}`,
      link: LINK,
      body: (
        <section class="card form" aria-label="The rule">
          <ActionForm page={page} to={`${path}${LINK}/${id}`} action="save">
            <RuleFields
              state={forms.of("save", toRuleForm(rule, people.names))}
              rule={rule}
              isRuleset
            />
            <button type="submit" class="primary">
              Save rule
            </button>
          </ActionForm>
        </section>
      ),
    };
  },
  actions: {
    async save(page, form, { c }) {
      const { ctx, account, path } = page;
      const rule = await findRuleset(ctx, account, readId(c.req.param("id") ?? ""));
      requireSeenRule(rule, form);
      await editRule(ctx, scopeOf(page), Promise.resolve(rule), readRulesetForm(form));
      return path + LINK;
    },
  },
};
