import { and, desc, eq, inArray } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, pullMirrors } from "../../src/db/schema/index.ts";
import { runConsequences } from "../../src/domain/operations/consequences/run-consequences.ts";
import { sendDueMirrors } from "../../src/domain/exchange/mirrors/send-due-mirrors.ts";
import {
  sendAllDueMails,
  sendDueMails,
} from "../../src/domain/operations/mail-delivery/send-due-mails.ts";
import { endRepositories } from "../../src/domain/operations/expiries/end-repositories.ts";
import { sendDueExpiries } from "../../src/domain/operations/expiries/send-due-expiries.ts";
import { dispatchEvents } from "../../src/domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { handleBatch, type Job } from "../../src/jobs/index.ts";
import { call } from "../support/call.ts";
import { drawConsequences, silentBindings } from "../support/consequences.ts";
import { countJob, type Work } from "../support/count-work.ts";
import { db } from "../support/db.ts";
import { deliver, deliveriesOf, makeDelivery, makeReceivedHook } from "../support/deliveries.ts";
import { expectRecorded } from "../support/expect-recorded.ts";
import { MAIL_SETTINGS, Mailbox } from "../support/mails.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { makePullMirror } from "../support/mirror-rows.ts";
import { makeWatch } from "../support/notifications.ts";
import { withoutQueueConsumer } from "../support/queue-consumer.ts";
import { systemCtx } from "../support/system.ts";

// What the jobs behind a request make and do at most: test/work.json has the numbers.

const SETTINGS = { ...MAIL_SETTINGS, ROOT_URL: "https://forge.example" };

const openCtx = (mailbox = new Mailbox()) =>
  systemCtx({ ...silentBindings(), MAIL: mailbox }, Date.now(), SETTINGS);

/** A repository whose issues somebody is notified of, by mail too. */
async function makeWatched(): Promise<{ owner: TestUser; repo: TestRepo; reader: TestUser }> {
  const [owner, reader] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  await makeWatch(reader, repo);
  return { owner, repo, reader };
}

async function openIssues({ owner, repo }: { owner: TestUser; repo: TestRepo }, count: number) {
  const path = `/repos/${repo.owner}/${repo.name}/issues`;
  for (let at = 0; at < count; at++) {
    const { status } = await call("POST", path, { as: owner, json: { title: `Issue ${at}` } });
    expect(status).toBe(201);
  }
}

/** The newest events of issues that were opened. */
const opened = ({ id }: TestRepo, count: number) =>
  db
    .select()
    .from(events)
    .where(and(eq(events.repoId, id), eq(events.type, "issue.opened")))
    .orderBy(desc(events.id))
    .limit(count);

/** Does what other tests have left, and prepares the queries by an issue of its own. */
async function settle(): Promise<void> {
  await openIssues(await makeWatched(), 1);
  const mailbox = new Mailbox();
  for (let turn = 0; turn < 2; turn++) {
    await dispatchEvents(openCtx());
    await runConsequences(openCtx());
    await drawConsequences();
    await sendAllDueMails(openCtx(mailbox));
  }
}

/** The message that events wait to be dispatched, as the queue hands it over. */
const dispatchMessage = () => {
  const handled = { acks: 0, retries: 0 };
  const message = {
    id: "1",
    body: { kind: "dispatch" },
    ack: () => void handled.acks++,
    retry: () => void handled.retries++,
  } as unknown as Message<Job>;
  return { message, handled };
};

describe("the work of the jobs behind issues that are opened", () => {
  it("is no more than recorded", { timeout: 120_000 }, async ({ task }) => {
    await withoutQueueConsumer(async () => {
      await settle();
      const scene = await makeWatched();
      await openIssues(scene, 1);
      const works: Record<string, Work> = {};
      works["dispatch of an event"] = await countJob(() => dispatchEvents(openCtx()));
      expect(await opened(scene.repo, 1)).toMatchObject([{ dispatchAt: null }]);
      works["consequences of an event"] = await countJob(() => runConsequences(openCtx()));
      expect(await opened(scene.repo, 1)).toMatchObject([{ consequencesAt: null }]);
      const mailbox = new Mailbox();
      works["a mail of a notification"] = await countJob(() => sendDueMails(openCtx(mailbox)));
      expect(mailbox.to(scene.reader.email)).toHaveLength(1);
      expectRecorded(task, works);
    });
  });

  it.for([1, 10])(
    "is no more than recorded, by a message about %i",
    { timeout: 120_000 },
    async (count, { task }) => {
      await withoutQueueConsumer(async () => {
        await settle();
        const scene = await makeWatched();
        await openIssues(scene, count);
        const { message, handled } = dispatchMessage();
        const mailbox = new Mailbox();
        const work = await countJob(() =>
          handleBatch({ messages: [message] }, () => openCtx(mailbox)),
        );
        expect(handled).toEqual({ acks: 1, retries: 0 });
        const done = { dispatchAt: null, consequencesAt: null };
        expect(await opened(scene.repo, count)).toMatchObject(
          Array.from({ length: count }, () => done),
        );
        expect(mailbox.to(scene.reader.email)).toHaveLength(count);
        expectRecorded(task, { [`a message about ${count} events`]: work });
      });
    },
  );
});

describe("the work of a delivery", () => {
  // How many calls a delivery of a burst takes has delivery-costs.test.ts: it depends on how fast
  // receivers answer.
  it("is no more than recorded", async ({ task }) => {
    const { hook } = await makeReceivedHook("200");
    // The first one prepares the queries.
    for (const isCounted of [false, true]) {
      await makeDelivery(hook);
      const work = await countJob(() => deliver([hook.id]));
      const made = await deliveriesOf(hook);
      expect(made.map(({ status }) => status)).toEqual(made.map(() => "succeeded"));
      if (isCounted) expectRecorded(task, { "a delivery": work });
    }
  });
});

describe("the work of the schedule of mirrors", () => {
  it("is no more than recorded", async ({ task }) => {
    const owner = await make.user();
    const repos: TestRepo[] = [];
    for (let at = 0; at < 5; at++) {
      const repo = await make.repo(owner);
      await makePullMirror(repo, { dueAt: Date.now() - 1 });
      repos.push(repo);
    }
    const sent: number[] = [];
    const queue = {
      sendBatch: (messages: Iterable<{ body: { repoId?: number } }>) => {
        for (const { body } of messages) sent.push(body.repoId ?? 0);
        return Promise.resolve();
      },
    } as unknown as Env["REMOTE_JOBS"];
    const run = () => sendDueMirrors(systemCtx({ REMOTE_JOBS: queue }, Date.now()));
    await run();
    sent.length = 0;
    const work = await countJob(run);
    expect(sent).toEqual(expect.arrayContaining(repos.map(({ id }) => id)));
    await db.delete(pullMirrors).where(
      inArray(
        pullMirrors.repoId,
        repos.map(({ id }) => id),
      ),
    );
    expectRecorded(task, { "the schedule of mirrors": work });
  });
});

describe("the work of ends of repositories", () => {
  it("is no more than recorded", async ({ task }) => {
    const owner = await make.user();
    const makeEnding = (action: "archive" | "delete", expiresAt: number) =>
      make.repo(owner, { expiry: { expiresAt, action, extensionMs: null, checkAt: 1000 } });
    const schedule = () =>
      sendDueExpiries(
        systemCtx({ REMOTE_JOBS: { sendBatch: () => Promise.resolve() } as never }, Date.now()),
      );
    const run = () => endRepositories(openCtx());
    const works: Record<string, Work> = {};
    for (const turn of ["first", "measured"]) {
      await makeEnding("delete", 1000);
      if (turn === "measured") works["the schedule of ends"] = await countJob(schedule);
      works["the deletion of a repository that ends"] = await countJob(run);
      await makeEnding("archive", 1000);
      works["the archive of a repository that ends"] = await countJob(run);
      await makeEnding("delete", Date.now() + 1_000_000);
      works["the notice of an end"] = await countJob(run);
      await schedule();
    }
    expectRecorded(task, works);
  });
});
