import type { Child, PropsWithChildren } from "hono/jsx";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Label, User } from "../../../db/schema/index.ts";
import { isIssueWritable } from "../../../domain/issues/issue/find-issue.ts";
import { isTrackerOn, maySpendTime } from "../../../domain/issues/times/time-access.ts";
import type { Conversation } from "../../../domain/issues/timeline/open-conversation.ts";
import { formatDuration, formatEstimate } from "../../../lib/duration.ts";
import { formatTime } from "../../../lib/time.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { accountPath, issuePath, repositoryPath } from "../addresses.ts";
import { Ago } from "../ago.tsx";
import { Avatar } from "../avatar.tsx";
import type { Page } from "../open-page.ts";
import { Day } from "../time.tsx";
import { ActionForm } from "./action-form.tsx";
import type { IssueAction } from "./actions.ts";
import { StateIcon } from "./issue-rows.tsx";
import { LabelChip } from "./label.tsx";
import { LabelChoices } from "./label-choices.tsx";

/** What an issue waits for and what waits for it; undefined where dependencies are off. */
interface Dependencies {
  /** Undefined for each that the reader may not see. */
  readonly blockers: readonly (IssueContext | undefined)[];
  readonly waiting: readonly IssueContext[];
}

export interface SidebarProps {
  page: Page;
  conversation: Conversation;
  dependencies: Dependencies | undefined;
  /** Users whom a writer may choose; empty for other readers. */
  assignees: readonly User[];
  /** What stands first, for a pull request. */
  reviewers?: Child;
}

/** What a page shows beside the conversation, with the forms that change it. */
export function Sidebar(props: SidebarProps) {
  const { page, conversation } = props;
  const { issue } = conversation;
  const isArchived = issue.repo.row.archivedAt !== null;
  const mayWrite = isIssueWritable(issue) && !isArchived;
  return (
    <aside class="side" aria-label="Properties">
      {props.reviewers}
      <Labels {...props} mayWrite={mayWrite} />
      <Milestones {...props} mayWrite={mayWrite} />
      <Assignees {...props} mayWrite={mayWrite} />
      <Deadline {...props} mayWrite={mayWrite} />
      <Times {...props} mayWrite={mayWrite} />
      <DependencyLists {...props} mayWrite={mayWrite} />
      {page.ctx.actor.user ? <Subscription {...props} /> : undefined}
      <Participants participants={conversation.participants} />
      {mayWrite && isAllowed(issue.repo, { mode: "admin" }) ? (
        <Administration {...props} />
      ) : undefined}
    </aside>
  );
}

type PartProps = SidebarProps & { mayWrite: boolean };

interface SideProps {
  title: string;
  /** The form that changes it, behind a menu. */
  form?: Child;
}

function Side({ title, form, children }: PropsWithChildren<SideProps>) {
  return (
    <section class="side-part">
      <div class="row">
        <h2 class="grow">{title}</h2>
        {form === undefined ? undefined : (
          <details class="menu end">
            <summary>
              Edit<span class="hidden">{` ${title.toLowerCase()}`}</span>
            </summary>
            <div class="menu-body">{form}</div>
          </details>
        )}
      </div>
      {children}
    </section>
  );
}

const None = () => <span class="soft">None</span>;

interface SideFormProps {
  props: SidebarProps;
  action: IssueAction;
  submit?: string;
  /** Whether it stands by itself, and not in a menu of its own. */
  isAlone?: boolean;
}

function SideForm({
  props,
  action,
  submit = "Save",
  isAlone = false,
  children,
}: PropsWithChildren<SideFormProps>) {
  const { page, conversation } = props;
  return (
    <ActionForm path={issuePath(conversation.issue)} formToken={page.formToken} action={action}>
      {children}
      <button type="submit" class={isAlone ? "small" : "small primary"}>
        {submit}
      </button>
    </ActionForm>
  );
}

function Labels({ mayWrite, ...props }: PartProps) {
  const { issue, choices } = props.conversation;
  const { repo, labels } = issue;
  const list = `${repositoryPath(repo)}/${issue.row.isPull ? "pulls" : "issues"}`;
  const offered = choices ? offeredLabels(labels, choices.labels) : [];
  return (
    <Side
      title="Labels"
      form={
        mayWrite && offered.length > 0 ? (
          <SideForm props={props} action="labels">
            <LabelChoices
              labels={offered}
              isChosen={({ id }) => labels.some((each) => each.id === id)}
            />
          </SideForm>
        ) : undefined
      }
    >
      {labels.length === 0 ? <None /> : undefined}
      <div class="topics">
        {labels.map((label) => (
          <LabelChip label={label} href={`${list}?label=${encodeURIComponent(label.name)}`} />
        ))}
      </div>
    </Side>
  );
}

/** Labels that may be given: those in use, and the others that are not archived. */
function offeredLabels(current: readonly Label[], all: readonly Label[]): Label[] {
  const ids = new Set(current.map(({ id }) => id));
  return [...current, ...all.filter(({ id, archivedAt }) => !ids.has(id) && archivedAt === null)];
}

function Milestones({ mayWrite, ...props }: PartProps) {
  const { issue, choices } = props.conversation;
  const { repo, milestone } = issue;
  const open = choices?.milestones ?? [];
  const isListed = !milestone || open.some(({ id }) => id === milestone.id);
  const offered = isListed ? open : [milestone, ...open];
  return (
    <Side
      title="Milestone"
      form={
        mayWrite && offered.length > 0 ? (
          <SideForm props={props} action="milestone">
            <select name="id" aria-label="Milestone">
              <option value="0">None</option>
              {offered.map(({ id, title }) => (
                <option value={id} selected={id === milestone?.id}>
                  {title}
                </option>
              ))}
            </select>
          </SideForm>
        ) : undefined
      }
    >
      {milestone ? (
        <a href={`${repositoryPath(repo)}/milestone/${milestone.id}`}>{milestone.title}</a>
      ) : (
        <None />
      )}
    </Side>
  );
}

function Assignees({ mayWrite, ...props }: PartProps) {
  const { issue } = props.conversation;
  const chosen = new Set(issue.assignees.map(({ id }) => id));
  const others = props.assignees.filter(({ id }) => !chosen.has(id));
  return (
    <Side
      title="Assignees"
      form={
        mayWrite ? (
          <SideForm props={props} action="assignees">
            {[...issue.assignees, ...others].map((user) => (
              <label class="check">
                <input
                  type="checkbox"
                  name={`user-${user.name}`}
                  value="on"
                  checked={chosen.has(user.id)}
                />
                <span>
                  <Avatar account={user} size={20} />
                  {user.name}
                </span>
              </label>
            ))}
            <label for="other-assignee">Somebody else</label>
            <input id="other-assignee" name="other" type="text" maxlength={255} />
          </SideForm>
        ) : undefined
      }
    >
      {issue.assignees.length === 0 ? <None /> : undefined}
      <People people={issue.assignees} />
    </Side>
  );
}

function People({ people }: { people: readonly User[] }) {
  return people.map((user) => (
    <div>
      <Avatar account={user} size={20} />
      <a href={accountPath(user)}>{user.name}</a>
    </div>
  ));
}

function Deadline({ mayWrite, ...props }: PartProps) {
  const { row } = props.conversation.issue;
  const { deadlineAt } = row;
  const isOverdue = deadlineAt !== null && !row.isClosed && deadlineAt < props.page.ctx.now;
  return (
    <Side
      title="Due date"
      form={
        mayWrite ? (
          <SideForm props={props} action="deadline">
            <input
              type="date"
              name="date"
              aria-label="Due date"
              value={deadlineAt === null ? "" : formatTime(deadlineAt).slice(0, 10)}
            />
          </SideForm>
        ) : undefined
      }
    >
      {deadlineAt === null ? <None /> : <Day at={deadlineAt} />}
      {isOverdue ? <strong class="fault"> Overdue</strong> : undefined}
    </Side>
  );
}

function Times({ mayWrite, ...props }: PartProps) {
  const { page, conversation } = props;
  const { issue, spentSeconds, stopwatchAt } = conversation;
  const { user } = page.ctx.actor;
  const { timeEstimateSeconds } = issue.row;
  if (!isTrackerOn(issue.repo)) return <></>;
  const maySpend = user !== undefined && maySpendTime(issue, user);
  return (
    <Side
      title="Time"
      form={
        maySpend ? (
          <>
            <SideForm
              props={props}
              action={stopwatchAt === undefined ? "start-stopwatch" : "stop-stopwatch"}
              submit={stopwatchAt === undefined ? "Start the stopwatch" : "Stop and book"}
            />
            {stopwatchAt === undefined ? undefined : (
              <SideForm props={props} action="cancel-stopwatch" submit="Discard the stopwatch" />
            )}
            <SideForm props={props} action="add-time" submit="Add time">
              <Duration id="spent" label="Time spent" value="" />
            </SideForm>
            {mayWrite ? (
              <SideForm props={props} action="estimate">
                <Duration
                  id="estimate"
                  label="Estimate"
                  value={formatEstimate(timeEstimateSeconds)}
                />
              </SideForm>
            ) : undefined}
          </>
        ) : undefined
      }
    >
      {stopwatchAt === undefined ? undefined : (
        <p>
          {"Your stopwatch was started "}
          <Ago at={stopwatchAt} now={page.ctx.now} />
        </p>
      )}
      <span class="soft">
        {spentSeconds === 0 ? "None spent" : `${formatDuration(spentSeconds)} spent`}
        {timeEstimateSeconds === 0 ? "" : `, ${formatEstimate(timeEstimateSeconds)} estimated`}
      </span>
    </Side>
  );
}

function Duration({ id, label, value }: { id: string; label: string; value: string }) {
  return (
    <>
      <label for={id}>{label}</label>
      <input
        id={id}
        name="duration"
        type="text"
        value={value}
        placeholder="1h 30m"
        maxlength={32}
      />
    </>
  );
}

function DependencyLists({ mayWrite, ...props }: PartProps) {
  const { conversation, dependencies, page } = props;
  if (!dependencies) return <></>;
  const { blockers, waiting } = dependencies;
  const hidden = blockers.filter((each) => each === undefined).length;
  const path = issuePath(conversation.issue);
  return (
    <Side
      title="Waits for"
      form={
        mayWrite ? (
          <SideForm props={props} action="add-dependency" submit="Add">
            <label for="blocker">Number, or owner/name#number</label>
            <input id="blocker" name="issue" type="text" required maxlength={255} />
          </SideForm>
        ) : undefined
      }
    >
      {blockers.length === 0 ? <None /> : undefined}
      <ul class="plain-list">
        {blockers.map((blocker) =>
          blocker ? (
            <li>
              <IssueLink issue={blocker} home={conversation.issue} />
              {mayWrite ? (
                <ActionForm
                  path={path}
                  formToken={page.formToken}
                  action="remove-dependency"
                  class="inline"
                >
                  <input type="hidden" name="issue" value={fullNameOf(blocker)} />
                  <button type="submit" class="plain">
                    Remove<span class="hidden">{` ${fullNameOf(blocker)}`}</span>
                  </button>
                </ActionForm>
              ) : undefined}
            </li>
          ) : undefined,
        )}
        {hidden === 0 ? undefined : <li class="soft">{`${hidden} that you may not see`}</li>}
      </ul>
      {waiting.length === 0 ? undefined : (
        <>
          <h3>Blocks</h3>
          <ul class="plain-list">
            {waiting.map((each) => (
              <li>
                <IssueLink issue={each} home={conversation.issue} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Side>
  );
}

const fullNameOf = ({ repo, row }: IssueContext): string =>
  `${repo.owner.name}/${repo.row.name}#${row.number}`;

function IssueLink({ issue, home }: { issue: IssueContext; home: IssueContext }) {
  const isHere = issue.row.repoId === home.row.repoId;
  return (
    <>
      <StateIcon issue={issue} />
      <a href={issuePath(issue)}>
        {`${isHere ? `#${issue.row.number}` : fullNameOf(issue)} ${issue.row.title}`}
      </a>{" "}
    </>
  );
}

function Subscription(props: SidebarProps) {
  const { isSubscribed } = props.conversation;
  return (
    <Side title="Notifications">
      <SideForm
        props={props}
        action={isSubscribed ? "unsubscribe" : "subscribe"}
        submit={isSubscribed ? "Unsubscribe" : "Subscribe"}
        isAlone
      />
      <p class="hint">
        {isSubscribed ? "You are notified of what happens here." : "You are not notified."}
      </p>
    </Side>
  );
}

function Participants({ participants }: { participants: readonly User[] }) {
  return (
    <Side title="Participants">
      <div data-participants>
        <People people={participants} />
      </div>
    </Side>
  );
}

function Administration(props: SidebarProps) {
  const { row } = props.conversation.issue;
  return (
    <Side title="Administration">
      <div class="row">
        {row.isLocked ? (
          <SideForm props={props} action="unlock" submit="Unlock" isAlone />
        ) : (
          <details class="menu">
            <summary>Lock</summary>
            <div class="menu-body">
              <SideForm props={props} action="lock" submit="Lock conversation">
                <label for="lock-reason">Reason, if you like</label>
                <input id="lock-reason" name="reason" type="text" maxlength={255} />
              </SideForm>
            </div>
          </details>
        )}
        <SideForm
          props={props}
          action={row.pinOrder > 0 ? "unpin" : "pin"}
          submit={row.pinOrder > 0 ? "Unpin" : "Pin"}
          isAlone
        />
        <details class="menu">
          <summary>Delete</summary>
          <div class="menu-body">
            <p>It is gone for good, with its comments and files.</p>
            <SideForm props={props} action="delete" submit={`Delete #${row.number}`} />
          </div>
        </details>
      </div>
    </Side>
  );
}
