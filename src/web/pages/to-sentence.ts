/**
 * What pages say in place of messages of the API, which has Gitea's words or names of its fields.
 */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "[oid]: must be the id of an object": "The form names no file of the changes",
    "[opened_at]: must be a time": "This form is too old: reload the page",
    "not need to dismiss this review because it's type is not Approve or change request":
      "The review is no vote",
    "not need to dismiss this review because this pr is closed": "The pull request is closed",
    "can't submit review for a closed or merged PR": "The pull request is closed",
    "refusing to merge unrelated histories": "The two histories have no commit in common",
    "no permission to change reaction": "The conversation is locked",
    "approve your own pull is not allowed": "You can't approve your own pull request",
    "reject your own pull is not allowed": "You can't request changes of your own pull request",
    "review event COMMENT requires a body or a comment": "A review needs a text or a comment",
    "pull request already exists for these targets": "A pull request of these branches is open",
    "Invalid PullRequest: There are no changes between the head and the base":
      "The base has all commits of the head: there is nothing to merge",
    "Invalid PullRequest: base and head must be branches": "Base and head must be branches",
    "user must be a collaborator": "Only collaborators may open pull requests here",
    "user cannot commit to repo": "You may not commit to this branch",
    "path is protected and can not be changed": "The rules of the branch protect a file",
    "user is blocked": "One of the users has blocked the other",
    "user should have permission to edit comment": "You may not change this comment",
    "user should have a permission to write to a repo": "You may not write to this repository",
    "user should be a repo admin or a site admin":
      "Only administrators of the repository may do this",
    "user should be the owner of the repo": "Only owners of the repository may do this",
    "Must be repo admin": "Only administrators of the repository may do this",
    "the repository's issues unit is disabled": "This repository has no issues",
    "the repository's pulls unit is disabled": "This repository has no pull requests",
    "the body was edited meanwhile: content_version is not the current one":
      "Somebody else has changed the text meanwhile",
    "user doesn't have access to repo": "The user has no access to this repository",
    "poster of pr can't be reviewer": "The author of a pull request can't review it",
    "Doer can't choose reviewer": "You may not choose reviewers",
    "Doer can't remove reviewer": "You may not remove reviewers",
    "The PR is already merged": "The pull request is merged already",
    "User not allowed to merge PR": "You may not merge this pull request",
    "Work in progress PRs cannot be merged": "A draft can't be merged",
    "head out of date": "Commits were pushed since the page was opened: look at them first",
    "pull request is already scheduled to auto merge when checks succeed":
      "The merge is scheduled already",
    "user has no permission to cancel the scheduled auto merge": "You may not cancel this merge",
    "cannot start a stopwatch again if it already exists": "The stopwatch is running already",
    "cannot stop a non-existent stopwatch": "No stopwatch is running",
    "cannot cancel a non-existent stopwatch": "No stopwatch is running",
    "time tracking disabled": "This repository tracks no time",
    "repo is empty": "The repository has no commits",
    "user not allowed to delete protected tag": "The tag is protected: you may not delete it",
    "user not allowed to create protected tag": "The tag is protected: you may not create it",
    "release tag name is protected": "The tag is protected: you may not create it",
  }),
);

const OF_FIELD = /^\[([\w.-]+)\]: (.+)$/;

/** What Gitea appends for programs, `[id: 17, name: x]`. */
const DETAILS = /:? \[(\w+): ([^\]]*)\]$/;

/** The field that a message of the API is about; undefined for one that says none. */
export const fieldOfMessage = (message: string): string | undefined => OF_FIELD.exec(message)?.[1];

/**
 * A message of the API about a field, as what stands below that field and its label.
 *
 * @example toFault("[user_name]: must not be empty") // "Must not be empty."
 */
export function toFault(message: string): string {
  const rule = OF_FIELD.exec(message)?.[2];
  return rule?.startsWith("must ") && !WORDS.has(message)
    ? `${capitalize(rule)}.`
    : toSentence(message);
}

/** A message of the API, such as `[user_name]: must …`, as a sentence for people. */
export function toSentence(message: string): string {
  const [, field, rule] = OF_FIELD.exec(message) ?? [];
  if (field === undefined || rule === undefined || WORDS.has(message)) {
    return toWords(message);
  }
  // Names with a hyphen are of pages: their fields stand beside a label.
  if (field.includes("-")) return `This ${rule}.`;
  // A part of an object is named by its own name.
  const name = field.slice(field.lastIndexOf(".") + 1);
  return `${capitalize(name.replaceAll("_", " "))} ${rule}.`;
}

function toWords(message: string): string {
  const bare = message.replace(DETAILS, "");
  const [, key = "", value = ""] = DETAILS.exec(message) ?? [];
  const named = ["name", "path"].includes(key) && !value.includes(": ") ? `: ${value}` : "";
  const words = WORDS.get(bare) ?? bare.replace("PasswordIsRequired: ", "A password has ");
  // A message may begin with the name of a user or a repository.
  const sentence = /^[a-z]+ (?!can't |is not permitted )/.test(words) ? capitalize(words) : words;
  return sentence + named + (/[.!?:]$/.test(sentence + named) ? "" : ".");
}

const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
