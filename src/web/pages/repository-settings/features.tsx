import { MERGE_STYLES, type PullSettings, type Repository } from "../../../db/schema/index.ts";
import { editRepository } from "../../../domain/repos/repository/edit-repository.ts";
import { invalidField } from "../../../lib/failure.ts";
import { CheckField, SelectField } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { ActionForm } from "../owner-settings/settings-frame.tsx";
import type { SettingsAction, SettingsForms } from "../owner-settings/settings-part.ts";
import type { RepositorySettingsPage as Page } from "./page.tsx";

// What a repository has, and how its pull requests are merged. Fields have the API's names.

const URL_MAX = 1024;
const PATTERN_MAX = 255;

/** Units that are on or off, by their fields. */
const UNITS = {
  has_code: ["Code", "hasCode"],
  has_pull_requests: ["Pull requests", "hasPullRequests"],
  has_releases: ["Releases", "hasReleases"],
  has_packages: ["Packages", "hasPackages"],
  has_projects: ["Projects", "hasProjects"],
  has_actions: ["Actions", "hasActions"],
} as const satisfies Record<string, readonly [label: string, column: keyof Repository]>;

const TRACKERS = [
  ["internal", "Here"],
  ["external", "Elsewhere, at the address below"],
  ["off", "Nowhere"],
] as const;
const WIKIS = TRACKERS;

const STYLES = [
  ["numeric", "Numbers"],
  ["alphanumeric", "Letters and numbers"],
  ["regexp", "A regular expression"],
] as const;

const PROJECTS = [
  ["all", "Of the repository and of its owner"],
  ["repo", "Of the repository alone"],
  ["owner", "Of its owner alone"],
] as const;

/** Rules of issues that are tracked here. */
const TRACKING = {
  enable_time_tracker: ["Track time", "enableTimeTracker"],
  allow_only_contributors_to_track_time: [
    "Only those with write access track time",
    "allowOnlyContributorsToTrackTime",
  ],
  enable_issue_dependencies: ["Issues and pull requests block others", "enableIssueDependencies"],
} as const;

/** The switches of how pull requests are merged. */
const PULLS = {
  allow_merge_commits: ["Merge commits", "allowMergeCommits"],
  allow_rebase: ["Rebase, then fast-forward", "allowRebase"],
  allow_rebase_explicit: ["Rebase, then a merge commit", "allowRebaseExplicit"],
  allow_squash_merge: ["Squash to one commit", "allowSquashMerge"],
  allow_fast_forward_only_merge: ["Fast-forward only", "allowFastForwardOnlyMerge"],
  allow_manual_merge: ["Mark as merged by hand", "allowManualMerge"],
  autodetect_manual_merge: ["Find out which were merged by hand", "autodetectManualMerge"],
  allow_rebase_update: ["Update branches by rebase, too", "allowRebaseUpdate"],
  ignore_whitespace_conflicts: ["Ignore white space in conflicts", "ignoreWhitespaceConflicts"],
  default_delete_branch_after_merge: [
    "Delete the branch after the merge, unless it is chosen otherwise",
    "defaultDeleteBranchAfterMerge",
  ],
  default_allow_maintainer_edit: [
    "Maintainers may push to the branches of forks, unless it is chosen otherwise",
    "defaultAllowMaintainerEdit",
  ],
} as const satisfies Record<string, readonly [label: string, setting: keyof PullSettings]>;

/** The switches of a group, as a form sends them. */
const readSwitches = <Names extends string>(
  form: Form,
  group: Readonly<Record<string, readonly [string, Names]>>,
): Record<Names, boolean> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all names of the group
  Object.fromEntries(
    Object.entries(group).map(([field, [, name]]) => [name, form.isSet(field)]),
  ) as Record<Names, boolean>;

/** One of some values. @throws Failure `invalid` */
function readChoice<T extends string>(
  form: Form,
  name: string,
  options: readonly (readonly [T, string])[],
): T {
  const chosen = options.find(([value]) => value === form.text(name));
  if (!chosen) throw invalidField(name, "must be one of the choices");
  return chosen[0];
}

const EXTERNAL = "external_tracker.external_tracker";

/** The actions of the forms. */
export const featureActions = {
  async units({ ctx, repo, path }, form) {
    const tracker = readChoice(form, "tracker", TRACKERS);
    const wiki = readChoice(form, "wiki", WIKIS);
    await editRepository(ctx, repo, {
      ...readSwitches(form, UNITS),
      projectsMode: readChoice(form, "projects_mode", PROJECTS),
      hasIssues: tracker !== "off",
      hasWiki: wiki !== "off",
      ...(wiki === "internal" && { externalWikiUrl: "" }),
      ...(wiki === "external" && { externalWikiUrl: readWikiUrl(form) }),
      ...(tracker === "internal" && {
        issueSettings: { ...readSwitches(form, TRACKING), external: null },
      }),
      ...(tracker === "external" && {
        issueSettings: {
          external: {
            url: form.line(`${EXTERNAL}_url`, URL_MAX),
            format: form.line(`${EXTERNAL}_format`, URL_MAX),
            style: readChoice(form, `${EXTERNAL}_style`, STYLES),
            regexpPattern: form.line(`${EXTERNAL}_regexp_pattern`, PATTERN_MAX),
          },
        },
      }),
    });
    return path;
  },
  async pulls({ ctx, repo, path }, form) {
    const styles = MERGE_STYLES.map((style) => [style, style] as const);
    await editRepository(ctx, repo, {
      pullSettings: {
        ...readSwitches(form, PULLS),
        defaultMergeStyle: readChoice(form, "default_merge_style", styles),
      },
    });
    return path;
  },
} satisfies Record<string, SettingsAction<Page>>;

/** @throws Failure `invalid` without an address: it would stand for a wiki here. */
function readWikiUrl(form: Form): string {
  const name = "external_wiki.external_wiki_url";
  const url = form.line(name, URL_MAX);
  if (url === "") throw invalidField(name, "must be a URL with http or https");
  return url;
}

interface FeatureFormsProps {
  page: Page;
  forms: SettingsForms;
}

/** The forms for the units of a repository, and for its pull requests. */
export function FeatureForms({ page, forms }: FeatureFormsProps) {
  const { row } = page.repo;
  return (
    <>
      <section class="card" aria-labelledby="features">
        <h3 id="features">Features</h3>
        <UnitsForm page={page} state={forms.of("units", unitFields(row))} />
      </section>
      {row.hasPullRequests ? (
        <section class="card" aria-labelledby="merges">
          <h3 id="merges">Pull requests</h3>
          <PullsForm
            page={page}
            state={forms.of("pulls", { default_merge_style: row.pullSettings.defaultMergeStyle })}
          />
        </section>
      ) : undefined}
    </>
  );
}

function unitFields({ hasIssues, hasWiki, externalWikiUrl, ...row }: Repository) {
  const { external } = row.issueSettings;
  return {
    tracker: hasIssues ? (external ? "external" : "internal") : "off",
    wiki: hasWiki ? (externalWikiUrl === "" ? "internal" : "external") : "off",
    projects_mode: row.projectsMode,
    [`${EXTERNAL}_url`]: external?.url ?? "",
    [`${EXTERNAL}_format`]: external?.format ?? "",
    [`${EXTERNAL}_style`]: external?.style ?? "numeric",
    [`${EXTERNAL}_regexp_pattern`]: external?.regexpPattern ?? "",
    "external_wiki.external_wiki_url": externalWikiUrl,
  };
}

function UnitsForm({ page, state }: { page: Page; state: FormState }) {
  const { row } = page.repo;
  return (
    <ActionForm page={page} to={page.path} action="units">
      <fieldset>
        <legend>It has</legend>
        {Object.entries(UNITS).map(([name, [label, column]]) => (
          <CheckField state={state} label={label} name={name} isSetAtFirst={row[column]} />
        ))}
      </fieldset>
      <SelectField state={state} label="Projects" name="projects_mode" options={PROJECTS} />
      <SelectField state={state} label="Issues are tracked" name="tracker" options={TRACKERS} />
      <fieldset>
        <legend>Issues that are tracked here</legend>
        {Object.entries(TRACKING).map(([name, [label, setting]]) => (
          <CheckField
            state={state}
            label={label}
            name={name}
            isSetAtFirst={row.issueSettings[setting]}
          />
        ))}
      </fieldset>
      <fieldset>
        <legend>Issues that are tracked elsewhere</legend>
        <Field
          label="Address of the tracker"
          {...state.of(`${EXTERNAL}_url`)}
          maxlength={URL_MAX}
          isOptional
        />
        <Field
          label="Address of an issue"
          {...state.of(`${EXTERNAL}_format`)}
          maxlength={URL_MAX}
          hint="With {user}, {repo} and {index} in place of what differs."
          isOptional
        />
        <SelectField
          state={state}
          label="Issues are named by"
          name={`${EXTERNAL}_style`}
          options={STYLES}
        />
        <Field
          label="Regular expression"
          {...state.of(`${EXTERNAL}_regexp_pattern`)}
          maxlength={PATTERN_MAX}
          isOptional
        />
      </fieldset>
      <SelectField state={state} label="The wiki is" name="wiki" options={WIKIS} />
      <Field
        label="Address of a wiki elsewhere"
        {...state.of("external_wiki.external_wiki_url")}
        maxlength={URL_MAX}
        isOptional
      />
      <button type="submit" class="primary">
        Save features
      </button>
    </ActionForm>
  );
}

function PullsForm({ page, state }: { page: Page; state: FormState }) {
  const { pullSettings } = page.repo.row;
  return (
    <ActionForm page={page} to={page.path} action="pulls">
      <fieldset>
        <legend>Allowed, and usual</legend>
        {Object.entries(PULLS).map(([name, [label, setting]]) => (
          <CheckField
            state={state}
            label={label}
            name={name}
            isSetAtFirst={pullSettings[setting]}
          />
        ))}
      </fieldset>
      <SelectField
        state={state}
        label="Style that is offered first"
        name="default_merge_style"
        options={MERGE_STYLES.map((style) => [style, PULLS[STYLE_FIELDS[style]][0]])}
      />
      <button type="submit" class="primary">
        Save rules of merges
      </button>
    </ActionForm>
  );
}

/** The switches of the styles of merges. */
const STYLE_FIELDS = {
  merge: "allow_merge_commits",
  rebase: "allow_rebase",
  "rebase-merge": "allow_rebase_explicit",
  squash: "allow_squash_merge",
  "fast-forward-only": "allow_fast_forward_only_merge",
} as const;
