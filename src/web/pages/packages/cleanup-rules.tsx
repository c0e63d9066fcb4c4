import { type Context, Hono } from "hono";
import type { Child } from "hono/jsx";
import type { ContentfulStatusCode } from "hono/utils/http-status";

import { ACCESS, type PackageCleanupRule } from "../../../db/schema/index.ts";
import { PACKAGE_TYPES, type PackageType } from "../../../db/schema/package-types.ts";
import {
  CLEANUP_LIMITS,
  type CleanupRuleOptions,
  createCleanupRule,
  deleteCleanupRule,
  editCleanupRule,
  findCleanupRule,
  listCleanupRules,
} from "../../../domain/packages/cleanup/cleanup-rules.ts";
import { previewCleanup } from "../../../domain/packages/cleanup/preview-cleanup.ts";
import type { PackageOwner } from "../../../domain/packages/package/find-package.ts";
import { invalidField, notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { enterOrganizationPage } from "../account/enter.ts";
import { renderAccount } from "../account/frame.tsx";
import { Ago } from "../ago.tsx";
import { CheckField, GeneralFault, SelectField } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { renderOrganizationSettings } from "../organization-settings/page.tsx";
import { openOwnPage, type Page, requireCookie, requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { renderSettings } from "../settings/settings-page.tsx";
import { PackageList } from "./package-list.tsx";

const PAGE_SIZE = 50;

/** An owner has at most one rule for each format. */
const ALL = { size: PACKAGE_TYPES.length, offset: 0 };

/** The cleanup rules of an owner of packages, with their reader, who administers the packages. */
interface RulesPage extends Page {
  readonly owner: PackageOwner;
  /** Of the list. */
  readonly path: string;
  /** Sends a page in the frame of the owner. */
  readonly send: (
    title: string,
    body: Child,
    status?: ContentfulStatusCode,
  ) => Response | Promise<Response>;
}

/** Enters the owner of a page's path. */
type Enter = (c: Context<WebEnv>) => Promise<RulesPage>;

const enterOwn: Enter = async (c) => {
  const page = await openOwnPage(c);
  if (!page.ctx.config.packages.isOn) throw notFound();
  return {
    ...page,
    owner: { account: page.user, access: ACCESS.owner },
    path: "/user/settings/packages",
    send: (_, body, status = 200) => renderSettings(c, page, { part: "packages", status }, body),
  };
};

const enterOrganization: Enter = async (c) => {
  requireCookie(c);
  const page = await enterOrganizationPage(c);
  requireOwn(c, page);
  const { ctx, account, membership, owner } = page;
  if (!ctx.config.packages.isOn || owner.access < ACCESS.admin) throw notFound();
  return {
    ...page,
    path: `/org/${account.name}/settings/packages`,
    send: (title, body, status = 200) =>
      membership.isOwner
        ? renderOrganizationSettings(
            c,
            page,
            { title, link: "/packages", isHeaded: true, body },
            { status },
          )
        : renderAccount(
            c,
            page,
            { tab: "cleanup", title: `${title} - ${account.name}`, status },
            body,
          ),
  };
};

/** The cleanup rules of the reader's own packages. */
export const ownCleanupRules = pagesBelow("/user/settings/packages", enterOwn);

/** The cleanup rules of an organization's packages. */
export const organizationCleanupRules = pagesBelow(
  "/org/:org/settings/packages",
  enterOrganization,
);

function pagesBelow(path: string, enter: Enter): Hono<WebEnv> {
  const pages = new Hono<WebEnv>();

  pages.get(path, async (c) => showRules(await enter(c)));

  pages.get(`${path}/rules/add`, async (c) =>
    showForm(await enter(c), undefined, FormState.fresh(toFields(undefined))),
  );

  pages.post(`${path}/rules/add`, async (c) => {
    const page = await enter(c);
    const form = await readForm(c);
    return orRefuse(
      c,
      async () => {
        const options = readOptions(form);
        const { id } = await createCleanupRule(page.ctx, page.owner, readType(form), options);
        return redirectAfterWrite(c, rulePath(page, id));
      },
      (refusal) => showForm(page, undefined, FormState.refused(form, refusal)),
      (message) => (message.includes("has a cleanup rule") ? "type" : undefined),
    );
  });

  pages.get(`${path}/rules/:id`, async (c) => {
    const page = await enter(c);
    const rule = await findNamed(c, page);
    return showForm(page, rule, FormState.fresh(toFields(rule)));
  });

  pages.post(`${path}/rules/:id`, async (c) => {
    const page = await enter(c);
    const form = await readForm(c);
    const rule = await findNamed(c, page);
    const { ctx, owner } = page;
    if (form.text("action") === "remove") {
      await deleteCleanupRule(ctx, owner, rule);
      return redirectAfterWrite(c, page.path);
    }
    return orRefuse(
      c,
      async () => {
        await editCleanupRule(ctx, owner, rule, readOptions(form));
        return redirectAfterWrite(c, rulePath(page, rule.id));
      },
      (refusal) => showForm(page, rule, FormState.refused(form, refusal)),
    );
  });

  pages.get(`${path}/rules/:id/preview`, async (c) => {
    const page = await enter(c);
    return showPreview(c, page, await findNamed(c, page));
  });

  return pages;
}

const findNamed = (c: Context<WebEnv>, { ctx, owner }: RulesPage): Promise<PackageCleanupRule> =>
  findCleanupRule(ctx, owner, readId(c.req.param("id") ?? ""));

const rulePath = ({ path }: RulesPage, id: number): string => `${path}/rules/${id}`;

/**
 * The fields at first. A new rule is disabled, so that its preview comes before its work, and would
 * delete old versions alone.
 */
const toFields = (rule: PackageCleanupRule | undefined): Record<string, string> => ({
  keep_count: String(rule?.keepCount ?? 5),
  keep_pattern: rule?.keepPattern ?? "",
  remove_days: String(rule?.removeDays ?? 90),
  remove_pattern: rule?.removePattern ?? "",
});

/** @throws Failure `invalid` */
function readType(form: SentForm): PackageType {
  const type = PACKAGE_TYPES.find((each) => each === form.text("type"));
  if (!type) throw invalidField("type", "must be one of the choices");
  return type;
}

/** @throws Failure `invalid` */
function readNumber(form: SentForm, name: string, max: number): number {
  const text = form.text(name).trim();
  if (!/^\d{1,9}$/.test(text) || Number(text) > max) {
    throw invalidField(name, `must be a number from 0 to ${max}`);
  }
  return Number(text);
}

/** @throws Failure `invalid` */
const readOptions = (form: SentForm): CleanupRuleOptions => ({
  isEnabled: form.isSet("enabled"),
  keepCount: readNumber(form, "keep_count", CLEANUP_LIMITS.keepCount),
  keepPattern: form.line("keep_pattern", CLEANUP_LIMITS.patternChars),
  removeDays: readNumber(form, "remove_days", CLEANUP_LIMITS.removeDays),
  removePattern: form.line("remove_pattern", CLEANUP_LIMITS.patternChars),
  matchesFullName: form.isSet("match_full_name"),
});

async function showRules(page: RulesPage): Promise<Response> {
  const { ctx, owner, path } = page;
  const { items, total } = await listCleanupRules(ctx, owner, ALL);
  return page.send(
    "Cleanup rules",
    <section>
      <div class="code-bar">
        <h2 class="grow">{`${total} cleanup rule${total === 1 ? "" : "s"}`}</h2>
        {total < PACKAGE_TYPES.length ? (
          <a class="button primary" href={`${path}/rules/add`}>
            New rule
          </a>
        ) : undefined}
      </div>
      <p class="soft">
        A rule deletes old versions of the packages of a format, once a day as long as it is
        enabled.
      </p>
      {total === 0 ? <p>There are no rules: all versions stay.</p> : undefined}
      <ul class="box commits">
        {items.map((rule) => (
          <li>
            <div class="grow">
              <a href={rulePath(page, rule.id)}>
                <strong>{rule.type}</strong>
              </a>{" "}
              <span class="label">{rule.isEnabled ? "Enabled" : "Disabled"}</span>
              <div class="soft">
                {describe(rule)}
                {rule.isEnabled ? (
                  <>
                    {" It runs next "}
                    <Ago at={rule.nextRunAt} now={ctx.now} />.
                  </>
                ) : undefined}
              </div>
            </div>
            <a class="button small" href={`${rulePath(page, rule.id)}/preview`}>
              Preview<span class="hidden">{` of the rule for ${rule.type}`}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>,
  );
}

/** What a rule keeps and deletes, in words. */
function describe(rule: PackageCleanupRule): string {
  const { keepCount, keepPattern, removeDays, removePattern } = rule;
  const kept = [
    ...(keepCount > 0 ? [`the newest ${keepCount} of each package`] : []),
    ...(keepPattern === "" ? [] : [`what matches ${keepPattern}`]),
  ];
  const removed = [
    ...(removePattern === "" ? [] : [`matches ${removePattern}`]),
    ...(removeDays > 0 ? [`is older than ${removeDays} day${removeDays === 1 ? "" : "s"}`] : []),
  ];
  return [
    removed.length === 0 ? "Deletes all versions" : `Deletes what ${removed.join(" and ")}`,
    kept.length === 0 ? "." : `, but keeps ${kept.join(" and ")}.`,
  ].join("");
}

/** @param rule Undefined for a new one. */
async function showForm(
  page: RulesPage,
  rule: PackageCleanupRule | undefined,
  state: FormState,
): Promise<Response> {
  const { ctx, owner, path, formToken } = page;
  const taken = rule ? [] : (await listCleanupRules(ctx, owner, ALL)).items;
  const types = PACKAGE_TYPES.filter((type) => !taken.some((each) => each.type === type));
  const title = rule ? `Cleanup rule for ${rule.type}` : "New cleanup rule";
  return page.send(
    title,
    <section class="card form">
      <h2>{title}</h2>
      <GeneralFault state={state} fields={FIELDS} />
      <Form action={rule ? rulePath(page, rule.id) : `${path}/rules/add`} formToken={formToken}>
        {rule ? undefined : (
          <SelectField
            state={state}
            label="Format"
            name="type"
            options={types.map((type) => [type, type])}
          />
        )}
        <CheckField
          state={state}
          label="Enabled: versions are deleted once a day"
          name="enabled"
          isSetAtFirst={rule?.isEnabled ?? false}
        />
        <Field
          label="Newest versions of each package that stay"
          {...state.of("keep_count")}
          inputmode="numeric"
          hint="With 0, no version stays for being new."
        />
        <Field
          label="Versions that stay, as a pattern"
          {...state.of("keep_pattern")}
          maxlength={CLEANUP_LIMITS.patternChars}
          hint="A regular expression for whole versions, such as v?1\..* or release-.*"
          isOptional
        />
        <Field
          label="Days after which a version goes"
          {...state.of("remove_days")}
          inputmode="numeric"
          hint="0 stands for any age."
        />
        <Field
          label="Versions that go, as a pattern"
          {...state.of("remove_pattern")}
          maxlength={CLEANUP_LIMITS.patternChars}
          hint="Without one, all that do not stay."
          isOptional
        />
        <CheckField
          state={state}
          label="Patterns are for the package's name and version, as in name/1.0"
          name="match_full_name"
          isSetAtFirst={rule?.matchesFullName ?? false}
        />
        <div class="row">
          <button type="submit" name="action" value="save" class="primary">
            {rule ? "Save rule" : "Create rule"}
          </button>
          {rule ? (
            <a class="button" href={`${rulePath(page, rule.id)}/preview`}>
              Preview of what is saved
            </a>
          ) : undefined}
          <a class="button" href={path}>
            All rules
          </a>
        </div>
      </Form>
      {rule ? <Deletion page={page} rule={rule} /> : undefined}
    </section>,
    state.refusal?.status,
  );
}

/** The fields that show a refusal of their own. */
const FIELDS = ["type", "keep_count", "keep_pattern", "remove_days", "remove_pattern"];

function Deletion({ page, rule }: { page: RulesPage; rule: PackageCleanupRule }) {
  return (
    <details class="menu">
      <summary>Delete the rule</summary>
      <div class="menu-body">
        <p>{`Versions of ${rule.type} packages are no longer deleted by it.`}</p>
        <Form action={rulePath(page, rule.id)} formToken={page.formToken}>
          <button type="submit" name="action" value="remove" class="danger">
            Delete rule
          </button>
        </Form>
      </div>
    </details>
  );
}

/**
 * Shows what a rule would delete now.
 *
 * Cost: as `previewCleanup`, beside a round trip for the rule.
 */
async function showPreview(
  c: Context<WebEnv>,
  page: RulesPage,
  rule: PackageCleanupRule,
): Promise<Response> {
  const { ctx, owner } = page;
  const list = readListPage(c, PAGE_SIZE);
  const { items, total, isIncomplete } = await previewCleanup(ctx, owner, rule, list);
  return page.send(
    `Preview of the cleanup rule for ${rule.type}`,
    <section>
      <h2>
        {`The rule for ${rule.type} would delete ${total} version${total === 1 ? "" : "s"} now`}
      </h2>
      <p class="soft">
        {describe(rule)} <a href={rulePath(page, rule.id)}>Edit the rule</a>
      </p>
      {isIncomplete ? (
        <p class="notice">There may be more: not all packages were looked at.</p>
      ) : undefined}
      <PackageList versions={items} now={ctx.now} empty="Nothing would be deleted." />
      <Pager url={c.req.url} page={list} total={total} />
    </section>,
  );
}
