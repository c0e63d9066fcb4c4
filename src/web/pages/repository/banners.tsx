import { isAllowed } from "../../../auth/access/permission.ts";
import { repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Form } from "../layout.tsx";
import type { EnteredRepository } from "./enter.ts";

/** What a reader should know before they use a repository. */
export function Banners({ page }: { page: EnteredRepository }) {
  const { ctx, repo } = page;
  const { row } = repo;
  return (
    <>
      <Origin page={page} />
      <MigrationState page={page} />
      {row.archivedAt === null ? undefined : (
        <p class="notice banner">
          {"This repository was archived "}
          <Ago at={row.archivedAt} now={ctx.now} />
          {": it can be read, and not be changed."}
        </p>
      )}
      <End page={page} />
      <Transfer page={page} />
      {row.isTemplate && ctx.actor.user ? (
        <p class="notice banner row">
          <span class="grow">
            This repository is a template: a new one can begin with its files.
          </span>
          <a class="button small primary" href={`/repo/create?template_id=${row.id}`}>
            Use this template
          </a>
        </p>
      ) : undefined}
    </>
  );
}

/** Where the repository comes from. */
function Origin({ page: { ctx, repo, facts } }: { page: EnteredRepository }) {
  const { row } = repo;
  if (facts.parent) {
    const { owner, row: parent } = facts.parent;
    return (
      <p class="soft">
        Forked from <a href={repositoryPath(facts.parent)}>{`${owner.name}/${parent.name}`}</a>
      </p>
    );
  }
  const { url, mirror } = row.origin ?? {};
  if (!row.isMirror || !url) return <></>;
  const syncedAt = mirror?.syncedAt ?? null;
  return (
    <p class="soft">
      {`Mirror of ${url}, `}
      {syncedAt === null ? (
        "not synchronized yet"
      ) : (
        <>
          {"synchronized "}
          <Ago at={syncedAt} now={ctx.now} />
        </>
      )}
      {mirror?.failure ? ". The last attempt failed." : undefined}
    </p>
  );
}

/** When the repository ends, and what becomes of it. */
function End({ page: { ctx, repo } }: { page: EnteredRepository }) {
  const { expiry } = repo.row;
  if (!expiry) return <></>;
  return (
    <p class="notice banner">
      {expiry.action === "archive"
        ? "This repository will be archived "
        : "This repository will be deleted "}
      <Ago at={expiry.expiresAt} now={ctx.now} />
      {expiry.extensionMs === null ? "." : ". Each push puts that off."}
    </p>
  );
}

const MIGRATION_WORDS = {
  running: "This repository is being migrated: more of it is still to come.",
  waiting: "This repository is being migrated. The migration waits for the other side.",
  failed: "The migration of this repository has failed: some of it may be missing.",
  cancelled: "The migration of this repository was cancelled: some of it may be missing.",
} as const;

/** The state of a migration that is not done, with the way to its page for administrators. */
function MigrationState({ page: { ctx, repo } }: { page: EnteredRepository }) {
  const state = repo.row.origin?.import;
  if (!state) return <></>;
  return (
    <p class="notice banner row">
      <span class="grow">{MIGRATION_WORDS[state]}</span>
      {ctx.actor.user && isAllowed(repo, { mode: "admin" }) ? (
        <a class="button small" href={`${repositoryPath(repo)}/-/migrate/status`}>
          Progress
        </a>
      ) : undefined}
    </p>
  );
}

/** The pending transfer of the repository, for those who answer it and those who started it. */
function Transfer({ page: { repo, formToken } }: { page: EnteredRepository }) {
  if (!repo.pendingTransferTo) return <></>;
  const path = repositoryPath(repo);
  if (repo.pendingTransferTo === "caller") {
    return (
      <div class="notice banner row">
        <span class="grow">
          {`${repo.owner.name} offers this repository to you, or to an organization of yours.`}
        </span>
        {(["accept", "reject"] as const).map((answer) => (
          <Form action={`${path}/action/${answer}_transfer`} formToken={formToken} class="inline">
            <button type="submit" class="small">
              {answer === "accept" ? "Accept" : "Decline"}
              <span class="hidden"> the repository</span>
            </button>
          </Form>
        ))}
      </div>
    );
  }
  if (!isAllowed(repo, { mode: "admin" })) return <></>;
  return (
    <p class="notice banner">
      This repository is offered to a new owner, who has not answered yet.
    </p>
  );
}
