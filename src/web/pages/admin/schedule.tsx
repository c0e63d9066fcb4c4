import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { listTasks } from "../../../domain/operations/cron/list-tasks.ts";
import { runTask } from "../../../domain/operations/cron/run-tasks.ts";
import type { WebEnv } from "../../env.ts";
import { Ago } from "../ago.tsx";
import { Count } from "../count.tsx";
import { Form } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import type { Refusal } from "../or-refuse.ts";
import { ADMIN_PATH, changeAsAdmin, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";

const PATH = `${ADMIN_PATH}/monitor/cron`;
/** More than there are tasks. */
const ALL = { size: 100, offset: 0 };

/** The tasks of the schedule. */
export const schedule = new Hono<WebEnv>({ router: new TrieRouter() });

schedule.get(PATH, async (c) => renderSchedule(c, await openAdminPage(c)));

schedule.post(`${PATH}/run`, (c) =>
  changeAsAdmin(
    c,
    async ({ ctx }, form) => {
      const task = form.text("task");
      await runTask(ctx, task);
      return `${PATH}?ran=${encodeURIComponent(task)}`;
    },
    (page, { refusal }) => renderSchedule(c, page, refusal),
  ),
);

async function renderSchedule(c: Context<WebEnv>, page: OwnPage, refusal?: Refusal) {
  const { ctx, formToken } = page;
  const { items } = await listTasks(ctx, ALL);
  const ran = items.find(({ name }) => name === c.req.query("ran"))?.name;
  return renderAdmin(
    c,
    page,
    { part: "schedule", refusal, done: ran === undefined ? undefined : `${ran} has run.` },
    <section class="card" aria-labelledby="schedule">
      <h2 id="schedule">Schedule</h2>
      <p>
        What the service does by itself.{" "}
        <a href="/docs/administration#the-schedule">What each is for</a>. A task that is run now
        does the amount of work of one run, and leaves the rest to the next one.
      </p>
      <div class="scroll" tabindex={0} role="region" aria-label="Tasks">
        <table class="rows">
          <thead>
            <tr>
              <th>Task</th>
              <th>When</th>
              <th>Last run</th>
              <th>Next run</th>
              <th class="number">Runs</th>
              <th>
                <span class="hidden">Run it</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ name, schedule: when, startedAt, nextAt, runCount }) => (
              <tr>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>
                  <code>{when}</code>
                </td>
                <td>{startedAt === undefined ? "never" : <Ago at={startedAt} now={ctx.now} />}</td>
                <td>
                  <Ago at={nextAt} now={ctx.now} />
                </td>
                <td class="number">
                  <Count of={runCount} />
                </td>
                <td>
                  <Form action={`${PATH}/run`} formToken={formToken}>
                    <input type="hidden" name="task" value={name} />
                    <button type="submit" class="small">
                      Run now<span class="hidden">{` ${name}`}</span>
                    </button>
                  </Form>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>,
  );
}
