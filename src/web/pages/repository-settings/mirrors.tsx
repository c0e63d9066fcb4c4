import type { PullMirror, PushMirror } from "../../../db/schema/index.ts";
import { mirrorEditStatements } from "../../../domain/exchange/mirrors/pull/edit-mirror.ts";
import { findPullMirror } from "../../../domain/exchange/mirrors/pull/find-pull-mirror.ts";
import { requestSync } from "../../../domain/exchange/mirrors/pull/request-sync.ts";
import { addPushMirror } from "../../../domain/exchange/mirrors/push/add-push-mirror.ts";
import { listPushMirrors } from "../../../domain/exchange/mirrors/push/find-push-mirror.ts";
import { removePushMirror } from "../../../domain/exchange/mirrors/push/remove-push-mirror.ts";
import { requestPushes } from "../../../domain/exchange/mirrors/push/request-push.ts";
import { editRepository } from "../../../domain/repos/repository/edit-repository.ts";
import { formatGoDuration } from "../../../lib/go-duration.ts";
import { CheckField } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { ActionForm, AskingForm } from "../owner-settings/settings-frame.tsx";
import type { SettingsForms } from "../owner-settings/settings-part.ts";
import { Pager, readListPage } from "../pager.tsx";
import { Time } from "../time.tsx";
import {
  type RepositorySettingsPage as Page,
  type RepositorySettingsPart,
  SETTINGS,
} from "./page.tsx";

const PAGE_SIZE = 50;
const CHARS_MAX = { interval: 64, address: 4096, username: 255, password: 4096 };
const INTERVAL_HINT = "Such as 8h0m0s; 0 for none.";

/** The remote that a repository follows, and those that follow it. */
export const mirrors: RepositorySettingsPart = {
  path: `${SETTINGS}/mirrors`,
  async show(page, forms, c) {
    const { ctx, repo } = page;
    const list = readListPage(c, PAGE_SIZE);
    const [pull, push] = await Promise.all([
      findPullMirror(ctx, repo),
      listPushMirrors(ctx, repo, list),
    ]);
    return {
      title: "Mirrors",
      link: "/mirrors",
      body: (
        <>
          {ctx.config.mirrors.isOn ? undefined : <p>Mirrors are switched off on this service.</p>}
          {pull ? <PullPart page={page} forms={forms} mirror={pull} /> : undefined}
          <section class="card" aria-labelledby="push">
            <h3 id="push">Push mirrors</h3>
            <p>
              {push.total === 0
                ? "No remote follows this repository."
                : `${push.total} remote${push.total === 1 ? " follows" : "s follow"} this repository.`}
            </p>
            <PushList page={page} mirrors={push.items} />
            <Pager url={c.req.url} page={list} total={push.total} />
            <PushForm page={page} state={forms.of("push-mirror-add")} />
          </section>
        </>
      ),
    };
  },
  actions: {
    async mirror(page, form) {
      const password = form.text("mirror_password");
      const username = form.line("mirror_username", CHARS_MAX.username);
      const address = form.line("mirror_address", CHARS_MAX.address);
      // Credentials stay as they are where nothing of the remote was typed.
      const isRemoteSent =
        address !== page.repo.row.origin?.url || username !== "" || password !== "";
      await editMirror(page, {
        interval: form.line("mirror_interval", CHARS_MAX.interval),
        isPruned: form.isSet("enable_prune"),
        ...(isRemoteSent && { address, username, password }),
      });
      return `${page.path}/mirrors`;
    },
    async "mirror-sync"({ ctx, repo, path }) {
      await requestSync(ctx, repo);
      return `${path}/mirrors`;
    },
    async convert(page) {
      await editMirror(page, { isMirror: false });
      return `${page.path}/mirrors`;
    },
    async "push-mirror-add"({ ctx, repo, path }, form) {
      await addPushMirror(ctx, repo, readPushMirror(form));
      return `${path}/mirrors`;
    },
    async "push-mirror-remove"({ ctx, repo, path }, form) {
      await removePushMirror(ctx, repo, form.text("remote_name"));
      return `${path}/mirrors`;
    },
    async "push-mirror-sync"({ ctx, repo, path }) {
      await requestPushes(ctx, repo);
      return `${path}/mirrors`;
    },
  },
  fieldOf: (message) => {
    if (/duration|interval/.test(message)) return "interval";
    return /url|protocol|host|user name/i.test(message) ? "remote_address" : undefined;
  },
};

async function editMirror(
  { ctx, repo }: Page,
  edit: Parameters<typeof mirrorEditStatements>[2],
): Promise<void> {
  await editRepository(ctx, repo, {}, await mirrorEditStatements(ctx, repo.row, edit));
}

const readPushMirror = (form: Form): Parameters<typeof addPushMirror>[2] => ({
  address: form.line("remote_address", CHARS_MAX.address),
  username: form.line("remote_username", CHARS_MAX.username),
  password: form.text("remote_password"),
  interval: form.line("interval", CHARS_MAX.interval),
  syncsOnCommit: form.isSet("sync_on_commit"),
});

/** How the last synchronization ended, and when the next one is due. */
function State({ mirror }: { mirror: PullMirror | PushMirror }) {
  const { state, syncedAt, lastError, dueAt } = mirror;
  return (
    <p>
      <span class="label">
        {state === "ok" ? "Works" : state === "failing" ? "Fails" : "Paused"}
      </span>{" "}
      {syncedAt === null ? (
        "Not synchronized yet. "
      ) : (
        <>
          {"Synchronized "}
          <Time at={syncedAt} />.{" "}
        </>
      )}
      {lastError === "" ? undefined : `The last attempt failed: ${lastError}. `}
      {state === "paused" ? "It goes on once you synchronize it. " : undefined}
      {dueAt === null ? undefined : (
        <>
          {"Next attempt "}
          <Time at={dueAt} />.
        </>
      )}
    </p>
  );
}

interface PullPartProps {
  page: Page;
  forms: SettingsForms;
  mirror: PullMirror;
}

function PullPart({ page, forms, mirror }: PullPartProps) {
  const to = `${page.path}/mirrors`;
  const state = forms.of("mirror", {
    mirror_interval: formatGoDuration(mirror.intervalSeconds),
    mirror_address: mirror.address,
  });
  return (
    <section class="card" aria-labelledby="pull">
      <h3 id="pull">The remote that it follows</h3>
      <State mirror={mirror} />
      <ActionForm page={page} to={to} action="mirror-sync">
        <button type="submit">Synchronize now</button>
      </ActionForm>
      <ActionForm page={page} to={to} action="mirror">
        <Field label="Address" {...state.of("mirror_address")} maxlength={CHARS_MAX.address} />
        <Field
          label="Interval"
          {...state.of("mirror_interval")}
          maxlength={CHARS_MAX.interval}
          hint={INTERVAL_HINT}
        />
        <CheckField
          state={state}
          label="Delete branches and tags that the remote has no more"
          name="enable_prune"
          isSetAtFirst={mirror.isPruned}
        />
        <Credentials
          state={state}
          prefix="mirror"
          hint="Both empty: as they are, unless the address changes."
        />
        <button type="submit" class="primary">
          Save
        </button>
      </ActionForm>
      <AskingForm page={page} to={to} action="convert" label="Make it an ordinary repository">
        <p>It follows the remote no more, and can be pushed to.</p>
      </AskingForm>
    </section>
  );
}

interface CredentialsProps {
  state: FormState;
  prefix: "mirror" | "remote";
  hint?: string;
}

/** The fields for the credentials of a remote, which are never shown. */
function Credentials({ state, prefix, hint }: CredentialsProps) {
  return (
    <>
      <Field
        label="User name"
        {...state.of(`${prefix}_username`)}
        maxlength={CHARS_MAX.username}
        autocomplete="off"
        hint={hint}
        isOptional
      />
      <Field
        label="Password or token"
        name={`${prefix}_password`}
        type="password"
        maxlength={CHARS_MAX.password}
        autocomplete="new-password"
        isOptional
      />
    </>
  );
}

function PushList({ page, mirrors: all }: { page: Page; mirrors: readonly PushMirror[] }) {
  const to = `${page.path}/mirrors`;
  if (all.length === 0) return <></>;
  return (
    <>
      <ul class="list">
        {all.map((mirror) => (
          <li>
            <div class="grow">
              <div>{mirror.address}</div>
              <div class="soft">
                {mirror.intervalSeconds === 0
                  ? "No interval"
                  : `Every ${formatGoDuration(mirror.intervalSeconds)}`}
                {mirror.syncsOnCommit ? ", and after each push" : ""}
              </div>
              <State mirror={mirror} />
            </div>
            <AskingForm
              page={page}
              to={to}
              action="push-mirror-remove"
              fields={{ remote_name: mirror.remoteName }}
              label="Remove"
              about={mirror.address}
            />
          </li>
        ))}
      </ul>
      <ActionForm page={page} to={to} action="push-mirror-sync">
        <button type="submit">Synchronize all now</button>
      </ActionForm>
    </>
  );
}

function PushForm({ page, state }: { page: Page; state: FormState }) {
  if (!page.ctx.config.mirrors.isNewPushAllowed) {
    return <p class="soft">No more push mirrors may be added on this service.</p>;
  }
  return (
    <>
      <h4>Add a push mirror</h4>
      <ActionForm page={page} to={`${page.path}/mirrors`} action="push-mirror-add">
        <Field
          label="Address of the remote"
          {...state.of("remote_address")}
          maxlength={CHARS_MAX.address}
        />
        <Credentials state={state} prefix="remote" />
        <Field
          label="Interval"
          {...state.of("interval")}
          value={state.valueOf("interval", "8h0m0s")}
          maxlength={CHARS_MAX.interval}
          hint={INTERVAL_HINT}
        />
        <CheckField
          state={state}
          label="Push to it after each push, too"
          name="sync_on_commit"
          isSetAtFirst
        />
        <button type="submit">Add push mirror</button>
      </ActionForm>
    </>
  );
}
