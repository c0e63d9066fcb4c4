import type { Context } from "hono";

import { ACCESS, type Team, type Unit, UNITS } from "../../../db/schema/index.ts";
import { findSeenAccount } from "../../../domain/people/accounts/find-account.ts";
import { findAccountIn, listAllAccountsIn } from "../../../domain/people/accounts/list-accounts.ts";
import { createTeam, type NewTeam } from "../../../domain/people/orgs/create-team.ts";
import { deleteTeam } from "../../../domain/people/orgs/delete-team.ts";
import { editTeam } from "../../../domain/people/orgs/edit-team.ts";
import { findTeamNamed } from "../../../domain/people/orgs/find-team.ts";
import { checkTeamName } from "../../../domain/people/orgs/team-options.ts";
import { addTeamMember, removeTeamMember } from "../../../domain/people/orgs/team-members.ts";
import {
  addTeamRepository,
  removeTeamRepository,
} from "../../../domain/people/orgs/team-repositories.ts";
import { findTeamWithRepository } from "../../../domain/repos/repository/find-team-with-repository.ts";
import { listNamedTeamRepositories } from "../../../domain/repos/repository/list-repositories.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath, repositoryPath } from "../addresses.ts";
import { Avatar } from "../avatar.tsx";
import { CheckField, ChoiceField, NAME_CHARS_MAX, SelectField } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { refuseUnknown } from "../owner-settings/refuse-unknown.ts";
import { ActionForm, AskingForm } from "../owner-settings/settings-frame.tsx";
import { Pager, readListPage } from "../pager.tsx";
import type { OrganizationSettingsPage as Page, OrganizationSettingsPart } from "./page.tsx";

const PAGE_SIZE = 50;
const CHARS_MAX = { name: 255, description: 255, user: 40 };

const UNIT = "unit-";

const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  code: "Code",
  issues: "Issues",
  ext_issues: "External issues",
  pulls: "Pull requests",
  releases: "Releases",
  wiki: "Wiki",
  ext_wiki: "External wiki",
  projects: "Projects",
  packages: "Packages",
  actions: "Actions",
};
const MODES = [
  ["none", "No access"],
  ["read", "Read"],
  ["write", "Write"],
] as const;

const teamsPath = ({ account }: Page): string => `/org/${account.name}/teams`;
const teamPath = (page: Page, { name }: Pick<Team, "name">): string =>
  `${teamsPath(page)}/${encodeURIComponent(name)}`;

/** The members of a team, where more are added. */
const membersPath = (page: Page, team: Pick<Team, "name">): string =>
  `${teamPath(page, team)}/edit#members`;

/** The input of a form for a team. @throws Failure `invalid` */
function readTeam(form: Form): NewTeam {
  const name = form.line("team_name", CHARS_MAX.name);
  checkTeamName(name, "team_name");
  return {
    name,
    description: form.line("description", CHARS_MAX.description),
    permission: form.text("permission") === "admin" ? "admin" : "read",
    unitsMap: Object.fromEntries(
      UNITS.map((unit) => [`repo.${unit}`, form.text(UNIT + unit) || "none"]),
    ),
    includesAllRepositories: form.text("repo_access") === "all",
    canCreateOrgRepo: form.isSet("can_create_org_repo"),
  };
}

/** The field that a refusal is about. */
function fieldOf(message: string): string | undefined {
  if (/already exists|reserved/.test(message)) return "team_name";
  return /blocked|user/.test(message) ? "member" : undefined;
}

/** The form for a new team. */
export const newTeam: OrganizationSettingsPart = {
  path: "/org/:org/teams/new",
  show: async (page, forms) => ({
    title: "New team",
    body: (
      <section class="card form" aria-label="The team">
        <ActionForm page={page} to={`${teamsPath(page)}/new`} action="create">
          <TeamFields state={forms.of("create", NEW)} team={undefined} />
          <button type="submit" class="primary">
            Create team
          </button>
        </ActionForm>
      </section>
    ),
  }),
  actions: {
    async create(page, form) {
      return membersPath(page, await createTeam(page.ctx, page.account, readTeam(form)));
    },
  },
  fieldOf,
};

const findTeamOf = ({ ctx, account }: Page, c: Context<WebEnv>): Promise<Team> =>
  findTeamNamed(ctx, { orgId: account.id, name: c.req.param("team") ?? "" });

/** A team, its members and its repositories, for owners of the organization. */
export const editedTeam: OrganizationSettingsPart = {
  path: "/org/:org/teams/:team/edit",
  async show(page, forms, c) {
    const { ctx, account } = page;
    const named = { orgId: account.id, name: (c.req.param("team") ?? "").toLowerCase() };
    const list = readListPage(c, PAGE_SIZE);
    const [team, members, repositories] = await Promise.all([
      findTeamOf(page, c),
      listAllAccountsIn(ctx, { membersOfTeamNamed: named }, list),
      listNamedTeamRepositories(ctx, named, list),
    ]);
    const to = `${teamPath(page, team)}/edit`;
    return {
      title: `Team ${team.name}`,
      body: (
        <>
          <section class="card form" aria-label="The team">
            <ActionForm page={page} to={to} action="update" fields={{ seen: grantsOf(team) }}>
              {team.access === ACCESS.owner ? (
                <OwnersFields state={forms.of("update", toTeamForm(team))} team={team} />
              ) : (
                <TeamFields state={forms.of("update", toTeamForm(team))} team={team} />
              )}
              <button type="submit" class="primary">
                Save team
              </button>
            </ActionForm>
          </section>
          <section class="card" aria-labelledby="members">
            <h3 id="members">{`${members.total} member${members.total === 1 ? "" : "s"}`}</h3>
            <ul class="list">
              {members.items.map((user) => (
                <li>
                  <div class="grow">
                    <Avatar account={user} size={24} />
                    <a href={accountPath(user)}>{user.name}</a>
                  </div>
                  <AskingForm
                    page={page}
                    to={to}
                    action="remove_member"
                    fields={{ member: user.name }}
                    label="Remove"
                    about={user.name}
                  />
                </li>
              ))}
            </ul>
            <ActionForm page={page} to={to} action="add_member">
              <Field
                label="Add a user, by name"
                {...forms.of("add_member").of("member")}
                maxlength={CHARS_MAX.user}
                autocomplete="off"
                hint="They become a member of the organization, too."
              />
              <button type="submit">Add member</button>
            </ActionForm>
          </section>
          <section class="card" aria-labelledby="repositories">
            <h3 id="repositories">
              {`${repositories.total} ${repositories.total === 1 ? "repository" : "repositories"}`}
            </h3>
            <ul class="list">
              {repositories.items.map((repo) => (
                <li>
                  <div class="grow">
                    <a href={repositoryPath(repo)}>{repo.row.name}</a>
                  </div>
                  {team.includesAllRepositories ? undefined : (
                    <AskingForm
                      page={page}
                      to={to}
                      action="remove_repository"
                      fields={{ repo_name: repo.row.name }}
                      label="Remove"
                      about={repo.row.name}
                    />
                  )}
                </li>
              ))}
            </ul>
            {team.includesAllRepositories ? (
              <p class="soft">The team has all repositories of the organization.</p>
            ) : (
              <ActionForm page={page} to={to} action="add_repository">
                <Field
                  label="Add a repository, by name"
                  {...forms.of("add_repository").of("repo_name")}
                  maxlength={NAME_CHARS_MAX}
                  autocomplete="off"
                />
                <button type="submit">Add repository</button>
              </ActionForm>
            )}
          </section>
          <Pager url={c.req.url} page={list} total={Math.max(members.total, repositories.total)} />
          {team.access === ACCESS.owner ? undefined : (
            <AskingForm page={page} to={to} action="delete" label="Delete" about={team.name}>
              <p>Members who are in no other team leave the organization.</p>
            </AskingForm>
          )}
        </>
      ),
    };
  },
  actions: {
    async update(page, form, { c }) {
      const team = await findTeamOf(page, c);
      if (team.access !== ACCESS.owner && form.text("seen") !== grantsOf(team)) {
        throw conflict(
          "Somebody else has changed the team meanwhile: look at it, and save it again",
        );
      }
      const input =
        team.access === ACCESS.owner
          ? { description: form.line("description", CHARS_MAX.description) }
          : readTeam(form);
      return `${teamPath(page, await editTeam(page.ctx, team, input))}/edit`;
    },
    async delete(page, _form, { c }) {
      await deleteTeam(page.ctx, await findTeamOf(page, c));
      return teamsPath(page);
    },
    async add_member(page, form, { c }) {
      const { ctx } = page;
      const name = form.line("member", CHARS_MAX.user);
      const [team, user] = await Promise.all([findTeamOf(page, c), findSeenAccount(ctx, name)]);
      const refuse = refuseUnknown("member", "must be the name of a user");
      if (!user) return refuse(notFound());
      await addTeamMember(ctx, team, user).catch(refuse);
      return membersPath(page, team);
    },
    async remove_member(page, form, { c }) {
      const { ctx, account } = page;
      const name = form.line("member", CHARS_MAX.user);
      const named = { orgId: account.id, name: (c.req.param("team") ?? "").toLowerCase() };
      const [team, user] = await Promise.all([
        findTeamOf(page, c),
        findAccountIn(ctx, { membersOfTeamNamed: named }, name),
      ]);
      // Who is no member any more stays none.
      if (user) await removeTeamMember(ctx, team, user);
      return membersPath(page, team);
    },
    async add_repository(page, form, { c }) {
      const { team, repo } = await findWithRepository(page, form, c);
      await addTeamRepository(page.ctx, team, repo);
      return `${teamPath(page, team)}/edit#repositories`;
    },
    async remove_repository(page, form, { c }) {
      const { team, repo } = await findWithRepository(page, form, c);
      await removeTeamRepository(page.ctx, team, repo);
      return `${teamPath(page, team)}/edit#repositories`;
    },
  },
  fieldOf,
};

/** The team of a path, and the repository that a form names. @throws Failure `invalid` */
async function findWithRepository(page: Page, form: Form, c: Context<WebEnv>) {
  const { ctx, account } = page;
  const { id } = await findTeamOf(page, c);
  const named = { owner: account.name, name: form.line("repo_name", NAME_CHARS_MAX) };
  return findTeamWithRepository(ctx, id, named).catch(
    refuseUnknown("repo_name", "must be the name of a repository of the organization"),
  );
}

const NEW: Readonly<Record<string, string>> = {
  permission: "units",
  repo_access: "chosen",
  ...Object.fromEntries(UNITS.map((unit) => [UNIT + unit, "read"])),
};

const toTeamForm = (team: Team): Record<string, string> => ({
  team_name: team.name,
  description: team.description,
  permission: team.access >= ACCESS.admin ? "admin" : "units",
  repo_access: team.includesAllRepositories ? "all" : "chosen",
  ...Object.fromEntries(
    UNITS.map((unit) => {
      const access = team.units[unit] ?? ACCESS.none;
      const mode = access >= ACCESS.write ? "write" : access === ACCESS.read ? "read" : "none";
      return [UNIT + unit, mode];
    }),
  ),
});

/** What a team grants, as a form of it was opened with: what is taken away meanwhile stays so. */
export const grantsOf = ({ access, units, ...team }: Team): string =>
  [
    access,
    team.includesAllRepositories,
    team.canCreateOrgRepo,
    ...UNITS.map((unit) => units[unit] ?? ACCESS.none),
  ].join();

interface TeamFieldsProps {
  state: FormState;
  /** The team that is edited; undefined for a new one. */
  team: Team | undefined;
}

/** Of the team of owners only the description changes. */
const OwnersFields = ({ state, team }: TeamFieldsProps) => (
  <>
    <input type="hidden" name="team_name" value={team?.name} />
    <Description state={state} />
  </>
);

const Description = ({ state }: { state: FormState }) => (
  <Field
    label="Description"
    {...state.of("description")}
    maxlength={CHARS_MAX.description}
    isOptional
  />
);

function TeamFields({ state, team }: TeamFieldsProps) {
  return (
    <>
      <Field
        label="Name"
        {...state.of("team_name")}
        maxlength={CHARS_MAX.name}
        hint="Letters, digits, dashes, dots and underscores."
      />
      <Description state={state} />
      <ChoiceField
        state={state}
        legend="Repositories"
        name="repo_access"
        options={[
          ["chosen", "Chosen", "Those that are added to the team."],
          ["all", "All", "All of the organization, new ones too."],
        ]}
      />
      <CheckField
        state={state}
        label="Its members create repositories in the organization"
        name="can_create_org_repo"
        isSetAtFirst={team?.canCreateOrgRepo ?? false}
      />
      <ChoiceField
        state={state}
        legend="Access"
        name="permission"
        options={[
          ["units", "By units", "What is chosen below for each unit."],
          ["admin", "Administration", "Members administer the repositories."],
        ]}
      />
      <fieldset>
        <legend>Units</legend>
        <p class="hint">
          Whatever the repositories have of these. External ones are links to another service.
        </p>
        <div class="scopes">
          {UNITS.map((unit) => (
            <SelectField
              state={state}
              label={UNIT_NAMES[unit]}
              name={UNIT + unit}
              options={MODES}
            />
          ))}
        </div>
      </fieldset>
    </>
  );
}
