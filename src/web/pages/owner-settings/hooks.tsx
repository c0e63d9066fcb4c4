import type { Context } from "hono";

import {
  DELIVERY_STATUSES,
  type Hook,
  HOOK_TYPES,
  type HookLevel,
  type HookType,
} from "../../../db/schema/index.ts";
import { findTestRepository } from "../../../domain/exchange/webhooks/dispatch/find-test-repository.ts";
import { testHook } from "../../../domain/exchange/webhooks/dispatch/test-hook.ts";
import { findDelivery } from "../../../domain/exchange/webhooks/delivery/find-delivery.ts";
import {
  type DeliveryEntry,
  listDeliveries,
} from "../../../domain/exchange/webhooks/delivery/list-deliveries.ts";
import {
  redeliver,
  redeliverFailed,
} from "../../../domain/exchange/webhooks/delivery/redeliver.ts";
import { createHook } from "../../../domain/exchange/webhooks/hooks/create-hook.ts";
import { deleteHook } from "../../../domain/exchange/webhooks/hooks/delete-hook.ts";
import { editHook } from "../../../domain/exchange/webhooks/hooks/edit-hook.ts";
import { findHook } from "../../../domain/exchange/webhooks/hooks/find-hook.ts";
import type { HookOwner, SITE_LEVELS } from "../../../domain/exchange/webhooks/hooks/hook-owner.ts";
import { listHooks } from "../../../domain/exchange/webhooks/hooks/list-hooks.ts";
import { requireWebhooks } from "../../../domain/exchange/webhooks/hooks/require-webhooks.ts";
import type { Listed } from "../../../domain/slice.ts";
import { countAction } from "../../../entrance/count-action.ts";
import { invalidField, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { toHookDeliveryDetail } from "../../../shapes/webhooks/hook-delivery.ts";
import type { WebEnv } from "../../env.ts";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { Time } from "../time.tsx";
import { HOOK_TYPE_NAMES, HookFields, hookFieldOf, readHook, toHookForm } from "./hook-form.tsx";
import { refuseUnknown } from "./refuse-unknown.ts";
import { ActionForm, AskingForm } from "./settings-frame.tsx";
import type { SettingsPage, SettingsPart } from "./settings-part.ts";

const PAGE_SIZE = 50;
const CHARS_MAX = { ref: 1024, repository: 255 };
const LINK = "/hooks";

/** The owner of the webhooks of a page. */
export interface HookScope {
  readonly hookOwner: HookOwner;
  /** The repository that a test is about; undefined where one of the owner's is named. */
  readonly repo?: RepositoryContext;
}

/** Webhooks that a page lists together, and to which more are added. */
export interface HookGroup {
  /** The path, below that of the settings, of the forms for new ones. */
  readonly path: string;
  /** The heading; "" for none. */
  readonly title: string;
  readonly about: string;
  /** Of webhooks of the service. */
  readonly siteLevel?: (typeof SITE_LEVELS)[number];
}

const ALL_HOOKS: readonly HookGroup[] = [
  { path: LINK, title: "", about: "They receive the events that each subscribes to." },
];

/** The parts of settings about webhooks: their list, the forms, and what was delivered. */
export function hookParts<P extends SettingsPage>(
  settings: string,
  scopeOf: (page: P) => HookScope,
  groups: readonly HookGroup[] = ALL_HOOKS,
): SettingsPart<P>[] {
  /** SECURITY: a hook is found with its owner alone. @throws Failure `forbidden` */
  const enter = (page: P): HookScope => {
    requireWebhooks(page.ctx);
    return scopeOf(page);
  };
  const hookPath = ({ path }: P, id: number): string => `${path}/hooks/${id}`;

  const list: SettingsPart<P> = {
    path: `${settings}/hooks`,
    async show(page, _forms, c) {
      const { hookOwner } = enter(page);
      const shown = readListPage(c, PAGE_SIZE);
      const lists = await Promise.all(
        groups.map(({ siteLevel }) =>
          listHooks(page.ctx, hookOwner, shown, siteLevel && [siteLevel]),
        ),
      );
      return {
        title: "Webhooks",
        link: LINK,
        body: (
          <>
            {groups.map((group, at) => (
              <Group page={page} group={group} listed={lists[at] ?? NO_HOOKS} />
            ))}
            <Pager
              url={c.req.url}
              page={shown}
              total={Math.max(...lists.map(({ total }) => total))}
            />
          </>
        ),
      };
    },
    actions: {
      async delete(page, form) {
        const { hookOwner } = enter(page);
        await deleteHook(page.ctx, hookOwner, readId(form.text("id")));
        return `${page.path}/hooks`;
      },
    },
  };

  const createIn = ({ path, siteLevel }: HookGroup): SettingsPart<P> => ({
    path: `${settings}${path}/:type/new`,
    async show(page, forms, c) {
      enter(page);
      const type = typeOf(c);
      const state = forms.of("create", { content_type: "json" });
      return {
        title: `New ${nameOf(siteLevel)} for ${HOOK_TYPE_NAMES[type]}`,
        link: LINK,
        body: (
          <section class="card form" aria-label="The webhook">
            <ActionForm page={page} to={`${page.path}${path}/${type}/new`} action="create">
              <HookFields state={state} type={type} hook={undefined} />
              <button type="submit" class="primary">
                Add webhook
              </button>
            </ActionForm>
          </section>
        ),
      };
    },
    actions: {
      async create(page, form, { c }) {
        const { hookOwner } = enter(page);
        const type = typeOf(c);
        const options = { ...readHook(form, type), type, ...(siteLevel && { siteLevel }) };
        return hookPath(page, (await createHook(page.ctx, hookOwner, options)).id);
      },
    },
    fieldOf: hookFieldOf,
  });

  const one: SettingsPart<P> = {
    path: `${settings}/hooks/:id`,
    async show(page, forms, c) {
      const { hookOwner, repo } = enter(page);
      const id = idOf(c);
      const shown = readListPage(c, PAGE_SIZE);
      const status = DELIVERY_STATUSES.find((each) => each === c.req.query("status"));
      const [hook, deliveries] = await Promise.all([
        findHook(page.ctx, hookOwner, id),
        listDeliveries(page.ctx, hookOwner, id, { status }, shown),
      ]);
      const to = hookPath(page, id);
      return {
        title: capitalize(`${nameOf(hook.level)} for ${HOOK_TYPE_NAMES[hook.type]}`),
        link: LINK,
        body: (
          <>
            <Health hook={hook} />
            <section class="card form" aria-label="The webhook">
              <ActionForm page={page} to={to} action="update">
                <HookFields
                  state={forms.of("update", toHookForm(hook))}
                  type={hook.type}
                  hook={hook}
                />
                <button type="submit" class="primary">
                  Save webhook
                </button>
              </ActionForm>
            </section>
            <section class="card form" aria-labelledby="test">
              <h3 id="test">Test</h3>
              <p>
                {hook.events.includes("push")
                  ? "A push without changes is delivered."
                  : "A test is a push without changes, to which this webhook does not subscribe."}
              </p>
              <ActionForm page={page} to={to} action="test">
                {repo ? undefined : (
                  <Field
                    label="Repository"
                    {...forms.of("test").of("repo")}
                    maxlength={CHARS_MAX.repository}
                    hint={hookOwner.level === "site" ? "As owner/name." : undefined}
                  />
                )}
                <Field
                  label="Branch, tag or commit"
                  {...forms.of("test").of("ref")}
                  maxlength={CHARS_MAX.ref}
                  hint="Empty for the default branch."
                  isOptional
                />
                <button type="submit">Deliver a test</button>
              </ActionForm>
            </section>
            <section class="card" aria-labelledby="deliveries">
              <h3 id="deliveries">Deliveries</h3>
              <Deliveries to={to} deliveries={deliveries.items} status={status} />
              <Pager url={c.req.url} page={shown} total={deliveries.total} />
              <ActionForm page={page} to={to} action="redeliver_failed">
                <Field
                  label="Deliver again what failed since"
                  {...forms.of("redeliver_failed").of("since")}
                  type="date"
                />
                <button type="submit">Deliver again</button>
              </ActionForm>
            </section>
          </>
        ),
      };
    },
    actions: {
      async update(page, form, { c }) {
        const { hookOwner } = enter(page);
        const { id, type } = await findHook(page.ctx, hookOwner, idOf(c));
        await editHook(page.ctx, hookOwner, id, readHook(form, type));
        return hookPath(page, id);
      },
      async test(page, form, { c }) {
        const { hookOwner, repo } = enter(page);
        const { ctx } = page;
        const id = idOf(c);
        await countAction({ var: { base: c.var.base, ctx } }, "WEBHOOK_TESTS");
        const tested = repo ?? (await findNamedRepository(page, hookOwner, form));
        await testHook(ctx, hookOwner, tested, id, form.line("ref", CHARS_MAX.ref)).catch(
          refuseUnknown("ref", "must be one of the repository, which needs a commit"),
        );
        return `${hookPath(page, id)}#deliveries`;
      },
      async redeliver_failed(page, form, { c }) {
        const { hookOwner } = enter(page);
        const since = Date.parse(form.text("since"));
        if (!Number.isFinite(since)) throw invalidField("since", "must be a day");
        await redeliverFailed(page.ctx, hookOwner, idOf(c), since);
        return `${hookPath(page, idOf(c))}#deliveries`;
      },
    },
    fieldOf: hookFieldOf,
  };

  const delivery: SettingsPart<P> = {
    path: `${settings}/hooks/:id/deliveries/:delivery`,
    async show(page, _forms, c) {
      const { hookOwner } = enter(page);
      const found = await findDelivery(page.ctx, hookOwner, idOf(c), idOf(c, "delivery"));
      const detail = toHookDeliveryDetail(found);
      const hook = hookPath(page, idOf(c));
      return {
        title: `Delivery of ${detail.event}`,
        link: LINK,
        body: (
          <>
            <p>
              <DeliveryState entry={found} /> <code>{detail.uuid}</code>{" "}
              <a href={hook}>All deliveries of the webhook</a>
            </p>
            <ActionForm page={page} to={`${hook}/deliveries/${detail.id}`} action="redeliver">
              <button type="submit">Deliver it again</button>
            </ActionForm>
            <Message
              title="Response"
              line={
                detail.response
                  ? `Status ${detail.response.status}, after ${detail.duration_ms ?? 0} ms`
                  : detail.failure || null
              }
              headers={detail.response?.headers}
              body={detail.response?.body}
            />
            <Message
              title="Request"
              line={detail.request && `${detail.request.method} ${detail.request.url}`}
              headers={detail.request?.headers}
              body={detail.request?.body}
            />
          </>
        ),
      };
    },
    actions: {
      async redeliver(page, _form, { c }) {
        const { hookOwner } = enter(page);
        const [id, deliveryId] = [idOf(c), idOf(c, "delivery")];
        await redeliver(page.ctx, hookOwner, id, deliveryId);
        return `${hookPath(page, id)}/deliveries/${deliveryId}`;
      },
    },
  };

  return [list, ...groups.map(createIn), one, delivery];
}

/** What a webhook of a level is called. */
const nameOf = (level: HookLevel | undefined): string =>
  level === "system" || level === "default" ? `${level} webhook` : "webhook";

const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const NO_HOOKS: Listed<Hook> = { items: [], total: 0 };

interface GroupProps {
  page: SettingsPage;
  group: HookGroup;
  listed: Listed<Hook>;
}

function Group({
  page,
  group: { path, title, about, siteLevel },
  listed: { items, total },
}: GroupProps) {
  const id = `new${path.replace("/", "-")}`;
  return (
    <>
      {title === "" ? undefined : <h3>{title}</h3>}
      <p>
        {about}{" "}
        {total === 0
          ? "There are none yet."
          : `${total} webhook${total === 1 ? "" : "s"}, oldest first.`}
      </p>
      <HookList page={page} hooks={items} />
      <section class="card" aria-labelledby={id}>
        <p id={id}>
          <strong>{`Add a ${nameOf(siteLevel)}`}</strong>
        </p>
        <p class="soft">
          For a program of your own choose Gitea; the others send what these services read.
        </p>
        <ul class="links">
          {HOOK_TYPES.map((type) => (
            <li>
              <a href={`${page.path}${path}/${type}/new`}>{HOOK_TYPE_NAMES[type]}</a>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

const idOf = (c: Context<WebEnv>, name = "id"): number => readId(c.req.param(name) ?? "");

/** @throws Failure `not_found` for a type that does not exist. */
function typeOf(c: Context<WebEnv>): HookType {
  const type = HOOK_TYPES.find((each) => each === c.req.param("type"));
  if (!type) throw notFound();
  return type;
}

const findNamedRepository = ({ ctx }: SettingsPage, hookOwner: HookOwner, form: Form) =>
  findTestRepository(ctx, hookOwner, form.line("repo", CHARS_MAX.repository)).catch(
    refuseUnknown("repo", "must be that of a repository of the owner"),
  );

function HookList({ page, hooks }: { page: SettingsPage; hooks: readonly Hook[] }) {
  if (hooks.length === 0) return <></>;
  return (
    <ul class="box commits">
      {hooks.map((hook) => (
        <li>
          <div class="grow">
            <a href={`${page.path}/hooks/${hook.id}`}>{hook.url}</a>
            <div class="soft">
              {HOOK_TYPE_NAMES[hook.type]}. <HealthWords hook={hook} />
            </div>
          </div>
          <AskingForm
            page={page}
            to={`${page.path}/hooks`}
            action="delete"
            fields={{ id: hook.id }}
            label="Delete"
            about={hook.url}
          />
        </li>
      ))}
    </ul>
  );
}

/** How deliveries of a webhook end at present. */
function HealthWords({ hook }: { hook: Hook }) {
  const { isActive, pausedAt, failingSince, failureCount, lastStatus, lastDeliveredAt } = hook;
  if (pausedAt !== null) {
    return (
      <>
        Paused <Time at={pausedAt} /> after failures: it receives nothing until it is saved as
        active
      </>
    );
  }
  if (!isActive) return <>Not active</>;
  if (failingSince !== null) {
    return (
      <>
        {`Failing, ${failureCount} time${failureCount === 1 ? "" : "s"} since `}
        <Time at={failingSince} />
      </>
    );
  }
  if (lastStatus === "none" || lastDeliveredAt === null) return <>Active, nothing delivered yet</>;
  return (
    <>
      {"Active, last delivered "}
      <Time at={lastDeliveredAt} />
    </>
  );
}

const Health = ({ hook }: { hook: Hook }) => (
  <p>
    <HealthWords hook={hook} />.
  </p>
);

interface DeliveriesProps {
  /** The path of the webhook. */
  to: string;
  deliveries: readonly DeliveryEntry[];
  status: string | undefined;
}

function Deliveries({ to, deliveries, status }: DeliveriesProps) {
  return (
    <>
      <ul class="links">
        {["", ...DELIVERY_STATUSES].map((each) => (
          <li>
            <a
              href={each === "" ? `${to}#deliveries` : `${to}?status=${each}#deliveries`}
              aria-current={each === (status ?? "") ? "true" : undefined}
            >
              {each === "" ? "All" : STATUS_WORDS[each as keyof typeof STATUS_WORDS]}
            </a>
          </li>
        ))}
      </ul>
      {deliveries.length === 0 ? <p class="soft">There is none.</p> : undefined}
      <ul class="list">
        {deliveries.map((entry) => (
          <li>
            <div class="grow">
              <a href={`${to}/deliveries/${entry.delivery.id}`}>{entry.delivery.event}</a>{" "}
              <span class="soft">
                <Time at={entry.delivery.createdAt} />
              </span>
            </div>
            <DeliveryState entry={entry} />
          </li>
        ))}
      </ul>
    </>
  );
}

const STATUS_WORDS = { pending: "Waiting", succeeded: "Delivered", failed: "Failed" } as const;

function DeliveryState({ entry: { delivery } }: { entry: Pick<DeliveryEntry, "delivery"> }) {
  const { status, responseStatus, attemptCount, nextAttemptAt } = delivery;
  return (
    <span class="soft">
      <span class="label">{STATUS_WORDS[status]}</span>{" "}
      {responseStatus === null ? "" : `Status ${responseStatus}. `}
      {attemptCount > 1 ? `${attemptCount} attempts. ` : ""}
      {status === "pending" && nextAttemptAt !== null ? (
        <>
          Next attempt <Time at={nextAttemptAt} />.
        </>
      ) : undefined}
    </span>
  );
}

interface MessageProps {
  title: string;
  /** What is said first; null where nothing was sent or came back yet. */
  line: string | null;
  headers: Readonly<Record<string, string>> | undefined;
  body: string | undefined;
}

/** A request or response, as it was sent. */
function Message({ title, line, headers = {}, body = "" }: MessageProps) {
  return (
    <section class="card" aria-label={title}>
      <h3>{title}</h3>
      <p>{line ?? "There is none yet."}</p>
      {Object.keys(headers).length === 0 ? undefined : (
        <pre class="secret" tabindex={0} aria-label={`Headers of the ${title.toLowerCase()}`}>
          {Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join("\n")}
        </pre>
      )}
      {body === "" ? undefined : (
        <pre class="secret" tabindex={0} aria-label={`Body of the ${title.toLowerCase()}`}>
          {indented(body)}
        </pre>
      )}
    </section>
  );
}

/** Characters of a body that is indented: a longer one is shown as it is. */
const INDENTED_MAX = 200_000;

function indented(body: string): string {
  if (body.length > INDENTED_MAX) return body;
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
