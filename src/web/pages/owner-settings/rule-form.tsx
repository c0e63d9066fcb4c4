import {
  type BranchProtection,
  MERGE_STYLES,
  type MergeStyle,
  type ProtectionSettings,
} from "../../../db/schema/index.ts";
import type { RuleOptions } from "../../../domain/code/protections/change-rules.ts";
import {
  PATTERNS_CHARS_MAX,
  QUEUE_BATCH_MAX,
  QUEUE_WAIT_MINUTES_MAX,
} from "../../../domain/code/protections/protection-options.ts";
import {
  LIST_FIELDS,
  type ListFields,
  LISTS,
  type RuleList,
} from "../../../domain/code/protections/rule-lists.ts";
import { conflict, invalidField } from "../../../lib/failure.ts";
import { namesOf, type RuleNames } from "../../../shapes/repos/rule-names.ts";
import { AreaField, CheckField, SelectField } from "../create/fields.tsx";
import type { FormState } from "../create/form-state.ts";
import type { Form } from "../form.ts";
import { Field } from "../layout.tsx";
import { NAMES_CHARS_MAX, readNames } from "./read-names.ts";

// The form for a rule for branches, of a repository or of all repositories of an organization.
// Fields have the API's names.

/** Characters of the name of a rule. */
export const RULE_NAME_MAX = 255;

/** Settings that are on or off. */
const SWITCHES = {
  enable_push: ["Pushes are allowed", "isPushEnabled"],
  enable_force_push: ["Forced pushes are allowed", "isForcePushEnabled"],
  require_signed_commits: ["Commits must be signed", "requireSignedCommits"],
  enable_status_check: ["Checks must succeed before a merge", "isStatusCheckEnabled"],
  block_on_rejected_reviews: ["No merge while changes are requested", "blockOnRejectedReviews"],
  block_on_official_review_requests: [
    "No merge while a requested review is missing",
    "blockOnOfficialReviewRequests",
  ],
  block_on_outdated_branch: ["No merge of a branch that is behind", "blockOnOutdatedBranch"],
  dismiss_stale_approvals: ["New commits dismiss approvals", "dismissStaleApprovals"],
  ignore_stale_approvals: ["Approvals of earlier commits count no more", "ignoreStaleApprovals"],
  block_admin_merge_override: ["Administrators are bound, too", "blockAdminMergeOverride"],
  enable_merge_queue: ["Pull requests are merged by a queue", "isMergeQueueEnabled"],
} as const satisfies Record<string, readonly [label: string, setting: keyof ProtectionSettings]>;
type Switch = keyof typeof SWITCHES;

/** What a list restricts. */
const LIST_LABELS: Readonly<Record<RuleList, string>> = {
  push: "Only some may push",
  forcePush: "Only some may push by force",
  merge: "Only some may merge",
  approval: "Only approvals of some count",
};

/** @throws Failure `invalid` for a field that is no whole number. */
function readNumber(form: Form, name: string, empty: number): number {
  const text = form.text(name).trim();
  if (text === "") return empty;
  if (!/^\d{1,9}$/.test(text)) throw invalidField(name, "must be a whole number");
  return Number(text);
}

const readLines = (form: Form, name: string): string[] =>
  form
    .line(name, PATTERNS_CHARS_MAX)
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

const readStyle = (text: string): MergeStyle | "" =>
  MERGE_STYLES.find((each) => each === text) ?? "";

/**
 * The options of a rule that a form describes.
 *
 * @throws Failure `invalid`.
 */
export function readRule(form: Form): RuleOptions {
  const listOf = (list: RuleList) => {
    const fields: ListFields = LIST_FIELDS[list];
    return {
      isRestricted: form.isSet(fields.isRestricted),
      users: readNames(form, fields.users),
      teams: readNames(form, fields.teams),
      deployKeys: fields.deployKeys !== undefined && form.isSet(fields.deployKeys),
    };
  };
  const isOn = (name: Switch) => form.isSet(name);
  return {
    priority: readNumber(form, "priority", 0),
    settings: {
      isPushEnabled: isOn("enable_push"),
      isForcePushEnabled: isOn("enable_force_push"),
      push: listOf("push"),
      forcePush: listOf("forcePush"),
      merge: listOf("merge"),
      approval: listOf("approval"),
      requiredApprovals: readNumber(form, "required_approvals", 0),
      isStatusCheckEnabled: isOn("enable_status_check"),
      statusContexts: readLines(form, "status_check_contexts"),
      blockOnRejectedReviews: isOn("block_on_rejected_reviews"),
      blockOnOfficialReviewRequests: isOn("block_on_official_review_requests"),
      blockOnOutdatedBranch: isOn("block_on_outdated_branch"),
      dismissStaleApprovals: isOn("dismiss_stale_approvals"),
      ignoreStaleApprovals: isOn("ignore_stale_approvals"),
      requireSignedCommits: isOn("require_signed_commits"),
      protectedFilePatterns: form.line("protected_file_patterns", PATTERNS_CHARS_MAX),
      unprotectedFilePatterns: form.line("unprotected_file_patterns", PATTERNS_CHARS_MAX),
      blockAdminMergeOverride: isOn("block_admin_merge_override"),
      isMergeQueueEnabled: isOn("enable_merge_queue"),
      mergeQueueStyle: readStyle(form.text("merge_queue_style")),
      mergeQueueBatchSize: readNumber(form, "merge_queue_batch_size", 5),
      mergeQueueWaitMinutes: readNumber(form, "merge_queue_wait_minutes", 60),
    },
  };
}

/** The fields of the form for a rule. */
export function toRuleForm(rule: BranchProtection, names: RuleNames): Record<string, string> {
  const { settings } = rule;
  const lists = LISTS.flatMap((list) => {
    const { users, teams } = LIST_FIELDS[list];
    return [
      [users, namesOf(names.users, settings[list].userIds).join(", ")],
      [teams, namesOf(names.teams, settings[list].teamIds).join(", ")],
    ];
  });
  return {
    ...Object.fromEntries(lists),
    priority: rule.isPriorityExplicit ? String(rule.priority) : "",
    repository_patterns: rule.repositoryPatterns,
    required_approvals: String(settings.requiredApprovals),
    status_check_contexts: settings.statusContexts.join("\n"),
    protected_file_patterns: settings.protectedFilePatterns,
    unprotected_file_patterns: settings.unprotectedFilePatterns,
    merge_queue_style: settings.mergeQueueStyle,
    merge_queue_batch_size: String(settings.mergeQueueBatchSize),
    merge_queue_wait_minutes: String(settings.mergeQueueWaitMinutes),
  };
}

/**
 * Refuses an edit of a rule that its sender has not seen as it is.
 *
 * @throws Failure `conflict`.
 */
export function requireSeenRule({ updatedAt }: BranchProtection, form: Form): void {
  if (form.text("updated_at") !== String(updatedAt)) {
    throw conflict("Somebody else has changed the rule meanwhile: look at it, and save it again");
  }
}

/** The fields of the form for a new rule. */
export const NEW_RULE: Readonly<Record<string, string>> = {
  required_approvals: "0",
  merge_queue_batch_size: "5",
  merge_queue_wait_minutes: "60",
};

interface RuleFieldsProps {
  state: FormState;
  /** The rule that is edited; undefined for a new one. */
  rule: BranchProtection | undefined;
  /** Whether it is one for repositories of an organization. */
  isRuleset: boolean;
}

/** The fields of the form for a rule. */
export function RuleFields({ state, rule, isRuleset }: RuleFieldsProps) {
  const check = (name: Switch) => {
    const [label, setting] = SWITCHES[name];
    const isSetAtFirst = rule?.settings[setting] ?? false;
    return <CheckField state={state} label={label} name={name} isSetAtFirst={isSetAtFirst} />;
  };
  return (
    <>
      {rule ? (
        <>
          <input type="hidden" name="rule" value={rule.name} />
          <input type="hidden" name="updated_at" value={String(rule.updatedAt)} />
        </>
      ) : (
        <Field
          label="Branch, or a pattern of branches"
          {...state.of("rule_name")}
          maxlength={RULE_NAME_MAX}
          hint="In patterns * matches all but a slash, and ** anything: release/**"
        />
      )}
      {isRuleset ? (
        <Field
          label="Repositories"
          {...state.of("repository_patterns")}
          maxlength={PATTERNS_CHARS_MAX}
          hint="Names or patterns, separated by semicolons; empty for all."
          isOptional
        />
      ) : undefined}
      <Field
        label="Priority"
        {...state.of("priority")}
        inputmode="numeric"
        hint="Of the rules that match a branch, the one with the lowest number applies."
        isOptional
      />
      <fieldset>
        <legend>Pushes</legend>
        <p class="hint">Where pushes are not allowed, changes come by pull requests alone.</p>
        {check("enable_push")}
        <List state={state} list="push" rule={rule} />
        {check("enable_force_push")}
        <List state={state} list="forcePush" rule={rule} />
        {check("require_signed_commits")}
      </fieldset>
      <AreaField
        state={state}
        label="Files that nobody changes"
        name="protected_file_patterns"
        hint="Patterns of paths, separated by semicolons: .github/**;*.lock"
      />
      <AreaField
        state={state}
        label="Files that everybody changes who may write"
        name="unprotected_file_patterns"
        hint="Patterns of paths, separated by semicolons."
      />
      <fieldset>
        <legend>Reviews</legend>
        <Field
          label="Approvals that a merge needs"
          {...state.of("required_approvals")}
          inputmode="numeric"
        />
        <List state={state} list="approval" rule={rule} />
        {check("block_on_rejected_reviews")}
        {check("block_on_official_review_requests")}
        {check("dismiss_stale_approvals")}
        {check("ignore_stale_approvals")}
      </fieldset>
      <fieldset>
        <legend>Merges</legend>
        <List state={state} list="merge" rule={rule} />
        {check("enable_status_check")}
        <AreaField
          state={state}
          label="Checks"
          name="status_check_contexts"
          hint="Their names or patterns, one in each line; without any, all that a commit has."
        />
        {check("block_on_outdated_branch")}
        {check("block_admin_merge_override")}
      </fieldset>
      <fieldset>
        <legend>Merge queue</legend>
        {check("enable_merge_queue")}
        <SelectField
          state={state}
          label="Style of its merges"
          name="merge_queue_style"
          options={[
            ["", "As each is asked for"],
            ...MERGE_STYLES.map((style) => [style, style] as const),
          ]}
        />
        <Field
          label="Pull requests that are tested together"
          {...state.of("merge_queue_batch_size")}
          inputmode="numeric"
          hint={`From 1 to ${QUEUE_BATCH_MAX}.`}
        />
        <Field
          label="Minutes that checks may take"
          {...state.of("merge_queue_wait_minutes")}
          inputmode="numeric"
          hint={`From 1 to ${QUEUE_WAIT_MINUTES_MAX}.`}
        />
      </fieldset>
    </>
  );
}

interface ListProps {
  state: FormState;
  list: RuleList;
  rule: BranchProtection | undefined;
}

/** The fields for the users, teams and keys that a rule names. */
function List({ state, list, rule }: ListProps) {
  const fields: ListFields = LIST_FIELDS[list];
  const before = rule?.settings[list];
  return (
    <div class="nested">
      <CheckField
        state={state}
        label={LIST_LABELS[list]}
        name={fields.isRestricted}
        isSetAtFirst={before?.isRestricted ?? false}
      />
      <Field
        label="Users"
        {...state.of(fields.users)}
        maxlength={NAMES_CHARS_MAX}
        hint="Names, separated by commas."
        isOptional
      />
      <Field label="Teams" {...state.of(fields.teams)} maxlength={NAMES_CHARS_MAX} isOptional />
      {fields.deployKeys === undefined ? undefined : (
        <CheckField
          state={state}
          label="Deploy keys that may write, too"
          name={fields.deployKeys}
          isSetAtFirst={before?.deployKeys ?? false}
        />
      )}
    </div>
  );
}
