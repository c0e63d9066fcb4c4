import type { ActionsLevel } from "../../../domain/actions/level.ts";
import { deleteRunner, setRunnerDisabled } from "../../../domain/actions/runners/change-runner.ts";
import {
  findRunnerWithTasks,
  type RunnerTask,
} from "../../../domain/actions/runners/find-runner-with-tasks.ts";
import { listRunners } from "../../../domain/actions/runners/list-runners.ts";
import {
  readRegistrationToken,
  resetRegistrationToken,
} from "../../../domain/actions/runners/registration-token.ts";
import { runnerState, type RunnerWithWork } from "../../../domain/actions/runners/runner-state.ts";
import { Ago } from "../ago.tsx";
import { CopyButton } from "../copy-button.tsx";
import { Notice } from "../layout.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { toShellWord } from "../shell-word.ts";
import { ActionForm, AskingForm } from "./settings-frame.tsx";
import type { SettingsPage, SettingsPart } from "./settings-part.ts";

const PAGE_SIZE = 50;
const TASKS_MAX = 20;
const LINK = "/actions/runners";

/** The parts of settings about runners: their list, how one is added, and each with its tasks. */
export function runnerParts<P extends SettingsPage>(
  settings: string,
  levelOf: (page: P) => ActionsLevel,
): SettingsPart<P>[] {
  const list: SettingsPart<P> = {
    path: settings + LINK,
    async show(page, _forms, c) {
      const shown = readListPage(c, PAGE_SIZE);
      const { items, total } = await listRunners(page.ctx, levelOf(page), shown);
      return {
        title: "Runners",
        link: LINK,
        body: (
          <>
            <p>{total === 0 ? "There are no runners." : `${total} in all, oldest first.`}</p>
            <RunnerList page={page} runners={items} />
            <Pager url={c.req.url} page={shown} total={total} />
            <p>
              <a class="button primary" href={`${page.path}${LINK}/new`}>
                Add a runner
              </a>
            </p>
          </>
        ),
      };
    },
    actions: {
      async delete(page, form) {
        await deleteRunner(page.ctx, levelOf(page), readId(form.text("id")));
        return page.path + LINK;
      },
    },
  };

  const create: SettingsPart<P> = {
    path: `${settings}${LINK}/new`,
    async show(page) {
      const { ctx } = page;
      const canSeal = ctx.config.sealingKeys.length > 0;
      const token = canSeal ? await readRegistrationToken(ctx, levelOf(page)) : undefined;
      return {
        title: "New runner",
        link: LINK,
        body: (
          <section class="card form" aria-label="New runner">
            {token === undefined ? (
              <Notice kind="error">
                The service has no key to seal registration tokens, so it has none.{" "}
                <a href="/docs/configuration">Its administrators set one.</a>
              </Notice>
            ) : (
              <Registration
                command={`gitea-runner register --no-interactive --instance ${toShellWord(ctx.publicUrl)} --token ${token}`}
              />
            )}
            <AskingForm
              page={page}
              to={`${page.path}${LINK}/new`}
              action="reset"
              label="Reset"
              about="the registration token"
            >
              <p>Runners that are registered stay. Others need the new token.</p>
            </AskingForm>
          </section>
        ),
      };
    },
    actions: {
      async reset(page) {
        await resetRegistrationToken(page.ctx, levelOf(page));
        return `${page.path}${LINK}/new`;
      },
    },
  };

  const one: SettingsPart<P> = {
    path: `${settings}${LINK}/:id`,
    async show(page, _forms, c) {
      const id = readId(c.req.param("id") ?? "");
      const level = levelOf(page);
      const { runner, tasks } = await findRunnerWithTasks(page.ctx, level, id, TASKS_MAX);
      const to = `${page.path}${LINK}/${id}`;
      return {
        title: runner.name,
        link: LINK,
        body: (
          <>
            <RunnerFacts runner={runner} now={page.ctx.now} />
            <div class="row">
              <ActionForm page={page} to={to} action={runner.isDisabled ? "enable" : "disable"}>
                <button type="submit">{runner.isDisabled ? "Enable" : "Disable"}</button>
              </ActionForm>
              <AskingForm
                page={page}
                to={page.path + LINK}
                action="delete"
                fields={{ id }}
                label="Delete"
                about={runner.name}
              >
                <p>Its token ends at once. A job that runs on it fails.</p>
              </AskingForm>
            </div>
            <section class="card" aria-labelledby="tasks">
              <h3 id="tasks">Latest tasks</h3>
              <Tasks tasks={tasks} now={page.ctx.now} />
            </section>
          </>
        ),
      };
    },
    actions: {
      disable: (page, _form, { c }) => setDisabled(page, c.req.param("id"), true),
      enable: (page, _form, { c }) => setDisabled(page, c.req.param("id"), false),
    },
  };

  async function setDisabled(page: P, id = "", isDisabled: boolean): Promise<string> {
    const runner = await setRunnerDisabled(page.ctx, levelOf(page), readId(id), isDisabled);
    return `${page.path}${LINK}/${runner.id}`;
  }

  return [list, create, one];
}

function Registration({ command }: { command: string }) {
  return (
    <>
      <p>
        Where it is to run, a runner registers by this command. It asks for jobs once its daemon is
        started. <a href="/docs/actions#runners">How to start one</a>
      </p>
      <pre class="secret" tabindex={0} aria-label="The command">
        {command}
      </pre>
      <CopyButton text={command} />
      <p class="hint">
        Who has this token can add a runner, and a runner gets the code and the secrets of its jobs.
      </p>
    </>
  );
}

const STATE_WORDS = { idle: "Idle", active: "Runs a job", offline: "Offline" } as const;

function RunnerList({ page, runners }: { page: SettingsPage; runners: readonly RunnerWithWork[] }) {
  if (runners.length === 0) return <></>;
  return (
    <ul class="box commits">
      {runners.map((runner) => (
        <li>
          <div class="grow">
            <a href={`${page.path}${LINK}/${runner.id}`}>{runner.name}</a>{" "}
            <RunnerFacts runner={runner} now={page.ctx.now} />
          </div>
          <AskingForm
            page={page}
            to={page.path + LINK}
            action="delete"
            fields={{ id: runner.id }}
            label="Delete"
            about={runner.name}
          >
            <p>Its token ends at once. A job that runs on it fails.</p>
          </AskingForm>
        </li>
      ))}
    </ul>
  );
}

function RunnerFacts({ runner, now }: { runner: RunnerWithWork; now: number }) {
  const { labels, version, isEphemeral, isDisabled, lastOnlineAt, repoId, ownerId } = runner;
  const level = repoId !== null ? "a repository" : ownerId !== null ? "an account" : "the service";
  return (
    <div class="soft">
      <span class="label">{STATE_WORDS[runnerState(runner, now)]}</span>{" "}
      {isDisabled ? <span class="label">Disabled</span> : undefined}{" "}
      {isEphemeral ? <span class="label">For one job</span> : undefined}{" "}
      {`Of ${level}. ${version === "" ? "" : `Version ${version}. `}`}
      Last seen <Ago at={lastOnlineAt} now={now} />.{" "}
      {labels.length === 0 ? "No labels." : `Labels: ${labels.join(", ")}.`}
    </div>
  );
}

const TASK_WORDS: Readonly<Record<RunnerTask["state"], string>> = {
  blocked: "Blocked",
  waiting: "Waiting",
  running: "Running",
  success: "Succeeded",
  failure: "Failed",
  cancelled: "Cancelled",
  skipped: "Skipped",
};

function Tasks({ tasks, now }: { tasks: readonly RunnerTask[]; now: number }) {
  if (tasks.length === 0) return <p class="soft">It has had none yet.</p>;
  return (
    <ul class="list">
      {tasks.map(({ state, owner, repo, runNumber, position, jobName, startedAt, stoppedAt }) => (
        <li>
          <div class="grow">
            <a href={`/${owner}/${repo}/actions/runs/${runNumber}/jobs/${position}`}>{jobName}</a>{" "}
            <span class="soft">
              {`${owner}/${repo}, run ${runNumber}, `}
              <Ago at={stoppedAt ?? startedAt} now={now} />
            </span>
          </div>
          <span class="label">{TASK_WORDS[state]}</span>
        </li>
      ))}
    </ul>
  );
}
