import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import type { Child } from "hono/jsx";

import {
  FAILING_MAX,
  type FailingHook,
  type FailingRemote,
  listFailing,
} from "../../../domain/operations/administration/list-failing.ts";
import { retryFailing } from "../../../domain/operations/administration/retry-failing.ts";
import type { WebEnv } from "../../env.ts";
import { Ago } from "../ago.tsx";
import { Form } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import type { Refusal } from "../or-refuse.ts";
import { readId } from "../read-id.ts";
import { ADMIN_PATH, changeAsAdmin, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";

const PATH = `${ADMIN_PATH}/monitor/queue`;

/** What the service tries again, or has given up. */
export const queues = new Hono<WebEnv>({ router: new TrieRouter() });

queues.get(PATH, async (c) => renderQueues(c, await openAdminPage(c)));

queues.post(`${PATH}/retry`, (c) =>
  changeAsAdmin(
    c,
    async ({ ctx, user }, form) => {
      await retryFailing(ctx, user, form.text("kind"), readId(form.text("id")));
      return `${PATH}?retried=1`;
    },
    (page, { refusal }) => renderQueues(c, page, refusal),
  ),
);

async function renderQueues(
  c: Context<WebEnv>,
  page: OwnPage,
  refusal?: Refusal,
): Promise<Response> {
  const { ctx } = page;
  const failing = await listFailing(ctx);
  const { hooks, remotes, mails, deletions } = failing;
  const areNone = [hooks, remotes, mails, deletions].every(({ length }) => length === 0);
  return renderAdmin(
    c,
    page,
    {
      part: "queues",
      refusal,
      done: c.req.query("retried") === "1" ? "It is tried again now." : undefined,
    },
    <section class="card" aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      <p>
        {`Jobs that failed and wait, or have given up, at most ${FAILING_MAX} of a kind. What does not fail is not listed. Who retries a mirror or a migration answers for it: it goes on by their rights.`}
      </p>
      {areNone ? <p>Nothing fails.</p> : undefined}
      <Jobs heading="Webhooks" count={hooks.length}>
        {hooks.map((each) => (
          <HookJob page={page} failing={each} />
        ))}
      </Jobs>
      <Jobs heading="Mirrors and migrations" count={remotes.length}>
        {remotes.map((each) => (
          <RemoteJob page={page} failing={each} />
        ))}
      </Jobs>
      <Jobs heading="Mails" count={mails.length}>
        {mails.map(({ id, attempts, dueAt }) => (
          <Job page={page} kind="mail" id={id} name={`Mail ${id}`}>
            {`Attempts: ${attempts}. Next `}
            <Ago at={dueAt} now={ctx.now} />.
          </Job>
        ))}
      </Jobs>
      <Jobs heading="Deletions of accounts" count={deletions.length}>
        {deletions.map(({ name, createdAt }) => (
          <li>
            <div class="grow">
              {name}
              <div class="soft">
                Begun <Ago at={createdAt} now={ctx.now} />, continued each minute by{" "}
                <a href={`${ADMIN_PATH}/monitor/cron`}>the schedule</a>.
              </div>
            </div>
          </li>
        ))}
      </Jobs>
    </section>,
  );
}

interface JobsProps {
  heading: string;
  count: number;
  children?: Child;
}

const Jobs = ({ heading, count, children }: JobsProps) =>
  count === 0 ? (
    <></>
  ) : (
    <>
      <h3>{heading}</h3>
      <ul class="list">{children}</ul>
    </>
  );

interface JobProps {
  page: OwnPage;
  kind: string;
  id: number;
  name: string;
  children?: Child;
}

const Job = ({ page, kind, id, name, children }: JobProps) => (
  <li>
    <div class="grow">
      {name}
      <div class="soft">{children}</div>
    </div>
    <Form action={`${PATH}/retry`} formToken={page.formToken}>
      <input type="hidden" name="kind" value={kind} />
      <input type="hidden" name="id" value={String(id)} />
      <button type="submit">
        Retry<span class="hidden">{` ${name}`}</span>
      </button>
    </Form>
  </li>
);

function HookJob({ page, failing: { hook, owner } }: { page: OwnPage; failing: FailingHook }) {
  // SECURITY: the rest of an address may hold a secret of its receiver.
  const { host } = new URL(hook.url);
  return (
    <Job page={page} kind="hook" id={hook.id} name={`Webhook ${hook.id} to ${host}`}>
      {`Of ${owner || "the service"}, ${hook.failureCount} failures since `}
      <Ago at={hook.failingSince ?? hook.createdAt} now={page.ctx.now} />
      {hook.pausedAt === null ? "." : ", paused."}
    </Job>
  );
}

function RemoteJob({ page, failing }: { page: OwnPage; failing: FailingRemote }) {
  const { kind, repoId, repository, state, failureCount, failingSince, lastError, dueAt } = failing;
  const { now } = page.ctx;
  return (
    <Job page={page} kind={kind} id={repoId} name={`${repository}: ${kind}`}>
      {`${state}, ${failureCount} failures`}
      {failingSince === null ? undefined : (
        <>
          {" since "}
          <Ago at={failingSince} now={now} />
        </>
      )}
      {dueAt === null ? undefined : (
        <>
          {", next "}
          <Ago at={dueAt} now={now} />
        </>
      )}
      . {lastError}
    </Job>
  );
}
