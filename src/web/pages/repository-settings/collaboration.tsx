import { isAllowed } from "../../../auth/access/permission.ts";
import { ACCESS, type Team } from "../../../db/schema/index.ts";
import {
  addRepositoryTeam,
  listRepositoryTeams,
  removeRepositoryTeam,
} from "../../../domain/people/orgs/repository-teams.ts";
import {
  addCollaborator,
  COLLABORATOR_PERMISSIONS,
  type CollaboratorPermission,
} from "../../../domain/repos/collaborators/add-collaborator.ts";
import { findPossibleCollaborator } from "../../../domain/repos/collaborators/find-collaborator.ts";
import {
  type Collaborator,
  listCollaborators,
} from "../../../domain/repos/collaborators/list-collaborators.ts";
import { removeCollaborator } from "../../../domain/repos/collaborators/remove-collaborator.ts";
import type { Listed } from "../../../domain/slice.ts";
import { invalidField, notFound } from "../../../lib/failure.ts";
import { accountPath } from "../addresses.ts";
import { Avatar } from "../avatar.tsx";
import { SelectField } from "../create/fields.tsx";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { refuseUnknown } from "../owner-settings/refuse-unknown.ts";
import { ActionForm, AskingForm } from "../owner-settings/settings-frame.tsx";
import type { SettingsForms } from "../owner-settings/settings-part.ts";
import { Pager, readListPage } from "../pager.tsx";
import {
  type RepositorySettingsPage as Page,
  type RepositorySettingsPart,
  SETTINGS,
} from "./page.tsx";

const PAGE_SIZE = 50;
const NAME_MAX = { user: 40, team: 255 };

/** The words for what collaborators may do. */
const PERMISSIONS = [
  ["write", "Write"],
  ["read", "Read"],
  ["admin", "Administer"],
] as const satisfies readonly (readonly [CollaboratorPermission, string])[];

/** Who besides the owner may read, write or administer a repository. */
export const collaboration: RepositorySettingsPart = {
  path: `${SETTINGS}/collaboration`,
  async show(page, forms, c) {
    const { ctx, repo } = page;
    const list = readListPage(c, PAGE_SIZE);
    const [people, teams] = await Promise.all([
      listCollaborators(ctx, repo, list),
      repo.owner.kind === "organization" ? listRepositoryTeams(ctx, repo, list) : undefined,
    ]);
    return {
      title: "Collaborators",
      link: "/collaboration",
      body: (
        <>
          <People page={page} forms={forms} people={people} />
          {teams ? <Teams page={page} forms={forms} teams={teams} /> : undefined}
          <Pager url={c.req.url} page={list} total={Math.max(people.total, teams?.total ?? 0)} />
        </>
      ),
    };
  },
  actions: {
    async add({ ctx, repo, path }, form) {
      const user = await findNamed({ ctx, repo }, form);
      await addCollaborator(ctx, repo, user, readPermission(form));
      return `${path}/collaboration`;
    },
    async delete({ ctx, repo, path }, form) {
      await removeCollaborator(ctx, repo, await findNamed({ ctx, repo }, form));
      return `${path}/collaboration`;
    },
    async add_team({ ctx, repo, path }, form) {
      await addRepositoryTeam(ctx, repo, form.line("team", NAME_MAX.team)).catch(
        refuseUnknown("team", "must be the name of a team of the organization"),
      );
      return `${path}/collaboration`;
    },
    async delete_team({ ctx, repo, path }, form) {
      await removeRepositoryTeam(ctx, repo, form.line("team", NAME_MAX.team));
      return `${path}/collaboration`;
    },
  },
  fieldOf: (message) => (/collaborator|blocked/.test(message) ? "collaborator" : undefined),
};

/** @throws Failure `invalid` for a name that no account has, as far as the sender may know. */
async function findNamed({ ctx, repo }: Pick<Page, "ctx" | "repo">, form: Form) {
  const name = form.line("collaborator", NAME_MAX.user);
  const found = await findPossibleCollaborator(ctx, repo, name);
  if (!found) throw invalidField("collaborator", "must be the name of a user");
  return found.user;
}

function readPermission(form: Form): CollaboratorPermission {
  const permission = COLLABORATOR_PERMISSIONS.find((each) => each === form.text("permission"));
  if (!permission) throw notFound();
  return permission;
}

interface PeopleProps {
  page: Page;
  forms: SettingsForms;
  people: Listed<Collaborator>;
}

function People({ page, forms, people }: PeopleProps) {
  const to = `${page.path}/collaboration`;
  const state = forms.of("add", { permission: "write" });
  return (
    <section class="card" aria-labelledby="people">
      <h3 id="people">{`${people.total} collaborator${people.total === 1 ? "" : "s"}`}</h3>
      <ul class="list">
        {people.items.map(({ user, access }) => (
          <li>
            <div class="grow">
              <Avatar account={user} size={24} />
              <a href={accountPath(user)}>{user.name}</a>
            </div>
            <ActionForm
              page={page}
              to={to}
              action="add"
              fields={{ collaborator: user.name }}
              class="row"
            >
              <select name="permission" aria-label={`What ${user.name} may do`}>
                {PERMISSIONS.map(([value, label]) => (
                  <option value={value} selected={ACCESS[value] === access}>
                    {label}
                  </option>
                ))}
              </select>
              <button type="submit">
                Save<span class="hidden">{` for ${user.name}`}</span>
              </button>
            </ActionForm>
            <AskingForm
              page={page}
              to={to}
              action="delete"
              fields={{ collaborator: user.name }}
              label="Remove"
              about={user.name}
            />
          </li>
        ))}
      </ul>
      <ActionForm page={page} to={to} action="add">
        <Field
          label="Add a user, by name"
          {...state.of("collaborator")}
          maxlength={NAME_MAX.user}
          autocomplete="off"
        />
        <SelectField state={state} label="They may" name="permission" options={PERMISSIONS} />
        <button type="submit" class="primary">
          Add collaborator
        </button>
      </ActionForm>
    </section>
  );
}

interface TeamsProps {
  page: Page;
  forms: SettingsForms;
  teams: Listed<{ team: Team }>;
}

/** The teams that reach the repository of an organization. */
function Teams({ page, forms, teams }: TeamsProps) {
  const { repo } = page;
  const { owner } = repo;
  const to = `${page.path}/collaboration`;
  const mayChange = isAllowed(repo, { mode: "owner" }) || owner.canRepoAdminChangeTeamAccess;
  return (
    <section class="card" aria-labelledby="teams">
      <h3 id="teams">Teams</h3>
      <ul class="list">
        {teams.items.map(({ team }) => (
          <li>
            <div class="grow">
              <a href={`/org/${owner.name}/teams/${encodeURIComponent(team.name)}`}>{team.name}</a>{" "}
              <span class="soft">
                {team.access === ACCESS.owner
                  ? "Owners"
                  : team.access === ACCESS.admin
                    ? "Administers"
                    : "By units"}
                {team.includesAllRepositories ? ", has all repositories" : ""}
              </span>
            </div>
            {mayChange && !team.includesAllRepositories ? (
              <AskingForm
                page={page}
                to={to}
                action="delete_team"
                fields={{ team: team.name }}
                label="Remove"
                about={team.name}
              />
            ) : undefined}
          </li>
        ))}
      </ul>
      {mayChange ? (
        <ActionForm page={page} to={to} action="add_team">
          <Field
            label="Add a team, by name"
            {...forms.of("add_team").of("team")}
            maxlength={NAME_MAX.team}
            autocomplete="off"
          />
          <button type="submit">Add team</button>
        </ActionForm>
      ) : (
        <p class="soft">Only owners of the organization change its teams.</p>
      )}
    </section>
  );
}
