import type { BranchProtection } from "../../../db/schema/index.ts";
import {
  createRule,
  deleteRule,
  editRule,
  orderRules,
} from "../../../domain/code/protections/change-rules.ts";
import { findRule, withPeople } from "../../../domain/code/protections/list-rules.ts";
import { matchBranches, type MatchedNames } from "../../../domain/code/protections/match-refs.ts";
import { loadRules } from "../../../domain/code/protections/select-rules.ts";
import { requireNotArchived } from "../../../domain/issues/issue/require-issue-access.ts";
import { conflict, invalidField } from "../../../lib/failure.ts";
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
import { readId } from "../read-id.ts";
import { listBranchNames } from "./ref-names.ts";
import { Matched } from "./matched.tsx";
import {
  type RepositorySettingsPage as Page,
  type RepositorySettingsPart,
  SETTINGS,
} from "./page.tsx";

/** The name of the field for the place of a rule begins with this. */
const PLACE = "place-";

/** The rules for branches, with those to which each applies now. */
export const branches: RepositorySettingsPart = {
  path: `${SETTINGS}/branches`,
  async show(page) {
    const { ctx, repo } = page;
    const [rules, names] = await Promise.all([loadRules(ctx, repo), listBranchNames(ctx, repo)]);
    const own = rules.branches.toSorted((a, b) => a.priority - b.priority || a.id - b.id);
    const edit = `${page.path}/branches/edit`;
    return {
      title: "Rules for branches",
      link: "/branches",
      body: (
        <>
          <p>
            <a class="button" href={edit}>
              New rule
            </a>
          </p>
          {own.length === 0 ? (
            <p>No branch is protected by a rule of this repository.</p>
          ) : (
            <Rules page={page} rules={own} matched={matchBranches(ctx, own, names)} />
          )}
          <Rulesets
            page={page}
            rules={rules.rulesets}
            matched={matchBranches(ctx, rules.rulesets, names)}
          />
        </>
      ),
    };
  },
  actions: {
    async order({ ctx, repo, path }, form) {
      requireNotArchived(repo);
      const places = form.namesWith(PLACE).map((name) => ({
        id: readId(name.slice(PLACE.length)),
        place: readPlace(form, name),
      }));
      const ids = places.toSorted((a, b) => a.place - b.place).map(({ id }) => id);
      await orderRules(ctx, { kind: "repository", repo }, ids);
      return `${path}/branches`;
    },
    async delete({ ctx, repo, path }, form) {
      const rule = await findRule(ctx, repo, form.text("rule"));
      await deleteRule(ctx, { kind: "repository", repo }, rule);
      return `${path}/branches`;
    },
  },
};

/** @throws Failure `invalid` for a place that is no number. */
function readPlace(form: Form, name: string): number {
  const place = form.text(name).trim();
  if (!/^\d{1,6}$/.test(place)) throw invalidField(name, "must be a whole number");
  return Number(place);
}

interface RulesProps {
  page: Page;
  rules: readonly BranchProtection[];
  matched: MatchedNames;
}

function Rules({ page, rules, matched }: RulesProps) {
  const to = `${page.path}/branches`;
  return (
    <>
      <ul class="box commits">
        {rules.map((rule) => (
          <li>
            <div class="grow">
              <code>{rule.name}</code>
              <Matched matched={matched} id={rule.id} kind="branch" />
              <RuleSummary rule={rule} />
            </div>
            <a class="button small" href={`${to}/edit?rule_name=${encodeURIComponent(rule.name)}`}>
              Edit<span class="hidden">{` ${rule.name}`}</span>
            </a>
            <AskingForm
              page={page}
              to={to}
              action="delete"
              fields={{ rule: rule.name }}
              label="Delete"
              about={rule.name}
            />
          </li>
        ))}
      </ul>
      {rules.length > 1 ? (
        <details>
          <summary>Change their order</summary>
          <p class="soft">Of the rules that match a branch, the first one applies.</p>
          <ActionForm page={page} to={to} action="order">
            {rules.map(({ id, name }, at) => (
              <div class="field">
                <label for={PLACE + id}>
                  {"Place of "}
                  <code>{name}</code>
                </label>
                <input id={PLACE + id} name={PLACE + id} inputmode="numeric" value={at + 1} />
              </div>
            ))}
            <button type="submit">Save order</button>
          </ActionForm>
        </details>
      ) : undefined}
    </>
  );
}

/** Rules of the organization, which apply besides. */
function Rulesets({ page, rules, matched }: RulesProps) {
  if (rules.length === 0) return <></>;
  const { owner } = page.repo;
  return (
    <>
      <h3>{`Rules of ${owner.name}`}</h3>
      <p class="soft">
        They apply besides: what one of the two does not allow is not allowed. Owners of the
        organization change them.
      </p>
      <ul class="box commits">
        {rules.map((rule) => (
          <li>
            <div class="grow">
              <code>{rule.name}</code>
              <Matched matched={matched} id={rule.id} kind="branch" />
              <RuleSummary rule={rule} />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The form for a rule for branches: a new one, or that of the name in the query. */
export const branchRule: RepositorySettingsPart = {
  path: `${SETTINGS}/branches/edit`,
  async show(page, forms, c) {
    const { ctx, repo, path } = page;
    const name = forms.of("save").of("rule").value || (c.req.query("rule_name") ?? "");
    const scope = { kind: "repository", repo } as const;
    const found =
      name === "" ? undefined : await withPeople(ctx, scope, await findRule(ctx, repo, name));
    const fields = found ? toRuleForm(found.rule, found.people.names) : NEW_RULE;
    return {
      title: found ? `Rule for ${found.rule.name}` : "New rule for branches",
      link: "/branches",
      body: (
        <section class="card form" aria-label="The rule">
          <ActionForm page={page} to={`${path}/branches/edit`} action="save">
            <RuleFields state={forms.of("save", fields)} rule={found?.rule} isRuleset={false} />
            <button type="submit" class="primary">
              {found ? "Save rule" : "Create rule"}
            </button>
          </ActionForm>
        </section>
      ),
    };
  },
  actions: {
    async save({ ctx, repo, path }, form) {
      requireNotArchived(repo);
      const scope = { kind: "repository", repo } as const;
      const name = form.text("rule");
      if (name === "") {
        const taken = conflict("[rule_name]: must not have a rule already");
        await createRule(ctx, scope, form.line("rule_name", RULE_NAME_MAX), readRule(form), taken);
      } else {
        const rule = await findRule(ctx, repo, name);
        requireSeenRule(rule, form);
        await editRule(ctx, scope, Promise.resolve(rule), readRule(form));
      }
      return `${path}/branches`;
    },
  },
};
