import type { Ctx } from "../../../context.ts";
import { findSeenAccount } from "../../../domain/people/accounts/find-account.ts";
import { findTeamNamed } from "../../../domain/people/orgs/find-team.ts";
import { editRepository } from "../../../domain/repos/repository/edit-repository.ts";
import { deleteRepository } from "../../../domain/repos/repository/delete-repository.ts";
import { setTopics } from "../../../domain/repos/topics/set-topics.ts";
import { startTransfer } from "../../../domain/repos/transfers/start-transfer.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import { invalidField, notFound } from "../../../lib/failure.ts";
import { accountPath, repositoryPath } from "../addresses.ts";
import { CheckField, DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX } from "../create/fields.tsx";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { AvatarForm, avatarActions } from "../owner-settings/avatar-form.tsx";
import { ActionForm } from "../owner-settings/settings-frame.tsx";
import { NAMES_CHARS_MAX, readNames } from "../owner-settings/read-names.ts";
import { refuseUnknown } from "../owner-settings/refuse-unknown.ts";
import type { SettingsForms } from "../owner-settings/settings-part.ts";
import { listBranchNames } from "./ref-names.ts";
import { expiryActions, ExpiryForms } from "./expiry-form.tsx";
import { featureActions, FeatureForms } from "./features.tsx";
import {
  type RepositorySettingsPage as Page,
  type RepositorySettingsPart,
  SETTINGS,
} from "./page.tsx";

const CHARS_MAX = { website: 1024, newOwner: 40 };

/** The general settings of a repository. */
export const general: RepositorySettingsPart = {
  path: SETTINGS,
  show: showGeneral,
  actions: {
    async update({ ctx, repo }, form) {
      const edited = await editRepository(ctx, repo, {
        name: form.line("name", NAME_CHARS_MAX),
        description: form.line("description", DESCRIPTION_CHARS_MAX),
        website: form.line("website", CHARS_MAX.website),
        isTemplate: form.isSet("template"),
        ...(form.text("default_branch").trim() !== "" && {
          defaultBranch: form.line("default_branch", NAME_CHARS_MAX),
        }),
      });
      return `${repositoryPath(edited)}/settings`;
    },
    async topics({ ctx, repo, path }, form) {
      await setTopics(ctx, repo, readNames(form, "topics"));
      return path;
    },
    ...featureActions,
    ...expiryActions,
    ...avatarActions(({ repo }: Page) => ({ kind: "repository", repo })),
    async visibility({ ctx, repo, path }, form) {
      requireName(repo, form);
      const visibility = form.text("visibility");
      if (visibility !== "private" && visibility !== "public") throw notFound();
      await editRepository(ctx, repo, { isPrivate: visibility === "private" });
      return path;
    },
    async archive({ ctx, repo, path }) {
      await editRepository(ctx, repo, { isArchived: true });
      return path;
    },
    async unarchive({ ctx, repo, path }) {
      await editRepository(ctx, repo, { isArchived: false });
      return path;
    },
    async transfer(page, form) {
      const { ctx, repo, user } = page;
      requireName(repo, form);
      const name = form.line("new_owner", CHARS_MAX.newOwner);
      if (name.toLowerCase() === repo.owner.lowerName) {
        throw invalidField("new_owner", "must be another than the present one");
      }
      const teamIds = await findTeamIds(ctx, name, readNames(form, "teams"));
      const moved = await startTransfer(ctx, repo, user, { name, teamIds }).catch(
        refuseUnknown("new_owner", "must be a user or an organization that you may see"),
      );
      const isReadable = isAllowed(moved.repo, { mode: "admin" });
      return isReadable ? `${repositoryPath(moved.repo)}/settings` : repositoryPath(moved.repo);
    },
    async cancel_transfer({ ctx, repo, user, path }) {
      // One that was answered meanwhile is pending no more.
      if (repo.pendingTransferTo) {
        await startTransfer(ctx, repo, user, { name: repo.owner.name, teamIds: [] });
      }
      return path;
    },
    async delete({ ctx, repo }, form) {
      requireName(repo, form);
      if (!(await deleteRepository(ctx, repo))) throw notFound();
      return accountPath(repo.owner);
    },
  },
  roles: { transfer: "owner", cancel_transfer: "owner", delete: "owner" },
  fieldOf: (message) => {
    if (/default merge style/.test(message)) return "default_merge_style";
    if (/new owner|blocked|team/i.test(message)) return "new_owner";
    return /already exists|name/i.test(message) ? "name" : undefined;
  },
};

/** @throws Failure `invalid` unless the name of the repository was typed. */
function requireName({ owner, row }: Page["repo"], form: Form): void {
  const names = [row.name, `${owner.name}/${row.name}`];
  if (!names.includes(form.text("repo_name").trim())) {
    throw invalidField("repo_name", "must be the name of the repository");
  }
}

/** The ids of teams of an organization that the caller may see. @throws Failure `invalid` */
async function findTeamIds(ctx: Ctx, orgName: string, names: string[]): Promise<number[]> {
  if (names.length === 0) return [];
  if (names.length > TEAMS_MAX) throw invalidField("teams", `must be at most ${TEAMS_MAX}`);
  const unknown = refuseUnknown("teams", "must be names of teams of yours in the organization");
  const org = await findSeenAccount(ctx, orgName);
  if (org?.kind !== "organization") return unknown(notFound());
  const teams = names.map((name) => findTeamNamed(ctx, { orgId: org.id, name }));
  return (await Promise.all(teams).catch(unknown)).map(({ id }) => id);
}

/** Teams that the form of a transfer names at most: each is looked up. */
const TEAMS_MAX = 10;

async function showGeneral(page: Page, forms: SettingsForms) {
  const { repo, ctx } = page;
  const { row } = repo;
  const branches = await listBranchNames(ctx, repo);
  return {
    title: "General",
    link: "",
    body: (
      <>
        <section class="card" aria-label="The repository">
          <UpdateForm page={page} forms={forms} branches={branches.slice(0, OFFERED_MAX)} />
          <h3>Topics</h3>
          <ActionForm page={page} to={page.path} action="topics">
            <Field
              label="Topics, separated by blanks"
              {...forms.of("topics", { topics: row.topics.join(" ") }).of("topics")}
              maxlength={NAMES_CHARS_MAX}
              hint="At most 25, of lower-case letters, digits, dots and dashes."
              isOptional
            />
            <button type="submit">Save topics</button>
          </ActionForm>
        </section>
        <FeatureForms page={page} forms={forms} />
        <AvatarForm
          page={page}
          state={forms.of("avatar")}
          avatar={row.avatarHash === "" ? undefined : `/avatars/${row.avatarHash}`}
          isUploaded={row.avatarHash !== ""}
        />
        <DangerZone page={page} forms={forms} />
      </>
    ),
  };
}

/** Branches that the field of the default branch offers. */
const OFFERED_MAX = 200;

interface PartProps {
  page: Page;
  forms: SettingsForms;
}

function UpdateForm({ page, forms, branches }: PartProps & { branches: readonly string[] }) {
  const { row } = page.repo;
  const { name, description, website, defaultBranch } = row;
  const state = forms.of("update", { name, description, website, default_branch: defaultBranch });
  return (
    <ActionForm page={page} to={page.path} action="update">
      <Field
        label="Name"
        {...state.of("name")}
        maxlength={NAME_CHARS_MAX}
        hint="The former name leads to the new one, until another repository takes it."
      />
      <Field
        label="Description"
        {...state.of("description")}
        maxlength={DESCRIPTION_CHARS_MAX}
        isOptional
      />
      <Field label="Website" {...state.of("website")} maxlength={CHARS_MAX.website} isOptional />
      <Field
        label="Default branch"
        {...state.of("default_branch")}
        maxlength={NAME_CHARS_MAX}
        list="branches"
        isOptional
      />
      <datalist id="branches">
        {branches.map((branch) => (
          <option value={branch} />
        ))}
      </datalist>
      <CheckField
        state={state}
        label="It is a template for other repositories"
        name="template"
        isSetAtFirst={row.isTemplate}
      />
      <button type="submit" class="primary">
        Save
      </button>
    </ActionForm>
  );
}

function DangerZone({ page, forms }: PartProps) {
  const { repo } = page;
  return (
    <section class="card" aria-labelledby="danger">
      <h3 id="danger">Visibility, ownership and deletion</h3>
      <VisibilityForm page={page} forms={forms} />
      {repo.row.isMirror ? undefined : <ArchiveForm page={page} />}
      <ExpiryForms page={page} forms={forms} />
      {isAllowed(repo, { mode: "owner" }) ? (
        <>
          <TransferForm page={page} forms={forms} />
          <h4>Delete</h4>
          <p>
            Its code, issues, releases and settings are deleted and can't be restored. Forks stay.
          </p>
          <ActionForm page={page} to={page.path} action="delete">
            <NameField page={page} forms={forms} action="delete" />
            <button type="submit" class="danger">
              Delete this repository
            </button>
          </ActionForm>
        </>
      ) : undefined}
    </section>
  );
}

/** The field into which the name of the repository is typed, so that nothing happens by mistake. */
function NameField({ page, forms, action }: PartProps & { action: string }) {
  return (
    <Field
      label="Name of the repository"
      {...forms.of(action).of("repo_name")}
      id={`${action}-name`}
      autocomplete="off"
      hint={`${page.repo.row.name}, to confirm it.`}
    />
  );
}

function VisibilityForm({ page, forms }: PartProps) {
  const { row, owner } = page.repo;
  const next = row.isPrivate ? "public" : "private";
  if (row.parentId !== null) {
    return <p class="soft">A fork is as visible as the repository that it was made of.</p>;
  }
  return (
    <>
      <h4>Visibility</h4>
      <p>
        {row.isPrivate
          ? `The repository is private. Once it is public, everybody sees it who sees ${owner.name}, with its whole history.`
          : "The repository is public. Once it is private, those lose their stars and watches who don't see it any more, and its forks become private."}
      </p>
      <ActionForm page={page} to={page.path} action="visibility" fields={{ visibility: next }}>
        <NameField page={page} forms={forms} action="visibility" />
        <button type="submit" class="danger">{`Make it ${next}`}</button>
      </ActionForm>
    </>
  );
}

function ArchiveForm({ page }: { page: Page }) {
  const isArchived = page.repo.row.archivedAt !== null;
  return (
    <>
      <h4>{isArchived ? "Take out of the archive" : "Archive"}</h4>
      <p>
        {isArchived
          ? "It can be changed again."
          : "It can be read, and nobody pushes to it, writes issues or changes it."}
      </p>
      <ActionForm page={page} to={page.path} action={isArchived ? "unarchive" : "archive"}>
        <button type="submit" class="danger">
          {isArchived ? "Take this repository out of the archive" : "Archive this repository"}
        </button>
      </ActionForm>
    </>
  );
}

function TransferForm({ page, forms }: PartProps) {
  const { repo } = page;
  if (repo.pendingTransferTo) {
    return (
      <>
        <h4>Transfer</h4>
        <p>It is offered to a new owner, who has not answered yet.</p>
        <ActionForm page={page} to={page.path} action="cancel_transfer">
          <button type="submit">Take the offer back</button>
        </ActionForm>
      </>
    );
  }
  const state = forms.of("transfer");
  return (
    <>
      <h4>Transfer</h4>
      <p>
        {
          "To another user or organization, who has to accept it, unless you may create repositories there. Addresses of the present owner lead to the new one."
        }
      </p>
      <ActionForm page={page} to={page.path} action="transfer">
        <Field
          label="New owner"
          {...state.of("new_owner")}
          maxlength={CHARS_MAX.newOwner}
          autocomplete="off"
        />
        <Field
          label="Teams of an organization that get it"
          {...state.of("teams")}
          maxlength={NAMES_CHARS_MAX}
          hint="Names of teams of yours, separated by commas."
          isOptional
        />
        <NameField page={page} forms={forms} action="transfer" />
        <button type="submit" class="danger">
          Transfer this repository
        </button>
      </ActionForm>
    </>
  );
}
