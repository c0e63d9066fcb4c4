import { createLock } from "../../../domain/code/lfs/create-lock.ts";
import { deleteLock } from "../../../domain/code/lfs/delete-lock.ts";
import { listLfsObjects } from "../../../domain/code/lfs/list-objects.ts";
import { listLocks } from "../../../domain/code/lfs/list-locks.ts";
import { requireNotArchived } from "../../../domain/issues/issue/require-issue-access.ts";
import { invalidField } from "../../../lib/failure.ts";
import { accountPath, sourcePath } from "../addresses.ts";
import { formatBytes } from "../format-bytes.ts";
import { Field } from "../layout.tsx";
import { ActionForm, AskingForm } from "../owner-settings/settings-frame.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { Time } from "../time.tsx";
import { type RepositorySettingsPart, SETTINGS } from "./page.tsx";

const PAGE_SIZE = 50;
const LOCKS_SHOWN = 100;
const PATH_MAX = 4096;

/** The files of Git LFS that a repository has, and the paths that are locked. */
export const largeFiles: RepositorySettingsPart = {
  path: `${SETTINGS}/lfs`,
  async show(page, _forms, c) {
    const { ctx, repo, path } = page;
    const list = readListPage(c, PAGE_SIZE);
    const { items, total } = await listLfsObjects(ctx, repo.row, list);
    return {
      title: "Large files",
      link: "/lfs",
      body: (
        <section class="card" aria-label="Files of Git LFS">
          <p>
            {`${total} file${total === 1 ? "" : "s"}, ${formatBytes(repo.row.lfsSizeBytes)}. `}
            <a href={`${path}/lfs/locks`}>Locked paths</a>
          </p>
          <ul class="list">
            {items.map(({ oid, sizeBytes, createdAt }) => (
              <li>
                <code class="grow">{oid}</code>
                <span class="soft">
                  {`${formatBytes(sizeBytes)}, `}
                  <Time at={createdAt} />
                </span>
              </li>
            ))}
          </ul>
          <Pager url={c.req.url} page={list} total={total} />
        </section>
      ),
    };
  },
  actions: {},
};

/** The paths of a repository that users have locked for themselves. */
export const locks: RepositorySettingsPart = {
  path: `${SETTINGS}/lfs/locks`,
  async show(page, forms, c) {
    const { ctx, repo, path } = page;
    const to = `${path}/lfs/locks`;
    const after = c.req.query("after") ?? "";
    const afterId = /^\d{1,15}$/.test(after) ? Number(after) : 0;
    const found = await listLocks(ctx, repo.row, { afterId, limit: LOCKS_SHOWN });
    const branch = { kind: "branch", name: repo.row.defaultBranch } as const;
    return {
      title: "Locked paths",
      link: "/lfs",
      body: (
        <section class="card" aria-label="Locks">
          <p>
            Nobody but its owner pushes a change of a locked path. <a href={`${path}/lfs`}>Files</a>
          </p>
          {found.locks.length === 0 ? <p class="soft">Nothing is locked.</p> : undefined}
          <ul class="list">
            {found.locks.map(({ lock, ownerName }) => (
              <li>
                <div class="grow">
                  <a href={sourcePath(repo, "src", branch, lock.path)}>
                    <code>{lock.path}</code>
                  </a>
                  <div class="soft">
                    {"Locked by "}
                    <a href={accountPath({ name: ownerName })}>{ownerName}</a>{" "}
                    <Time at={lock.lockedAt} />
                  </div>
                </div>
                <AskingForm
                  page={page}
                  to={to}
                  action="delete"
                  fields={{ id: lock.id }}
                  label="Unlock"
                  about={lock.path}
                />
              </li>
            ))}
          </ul>
          {found.nextId === undefined ? undefined : (
            <p>
              <a class="button" rel="next" href={`${to}?after=${found.nextId}`}>
                Next
              </a>
            </p>
          )}
          <ActionForm page={page} to={to} action="add">
            <Field label="Lock a path" {...forms.of("add").of("path")} maxlength={PATH_MAX} />
            <button type="submit">Lock</button>
          </ActionForm>
        </section>
      ),
    };
  },
  actions: {
    async add({ ctx, repo, user, path }, form) {
      requireNotArchived(repo);
      const { entry, isNew } = await createLock(ctx, repo.row, user, form.line("path", PATH_MAX));
      if (!isNew && entry.lock.ownerId !== user.id) {
        throw invalidField("path", `must not be locked by ${entry.ownerName} already`);
      }
      return `${path}/lfs/locks`;
    },
    async delete({ ctx, repo, user, path }, form) {
      requireNotArchived(repo);
      await deleteLock(ctx, repo.row, user, readId(form.text("id")), true);
      return `${path}/lfs/locks`;
    },
  },
  fieldOf: (message) => (/path/.test(message) ? "path" : undefined),
};
