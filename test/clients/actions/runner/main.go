// A runner in the manner of Gitea's: its messages, and its engine in host mode.
// Arguments: address, registration token, labels, tasks after which it ends, "proto" or "json".
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	v1 "gitea.dev/actions-proto-go/runner/v1"
	"gitea.dev/actions-proto-go/runner/v1/runnerv1connect"
	"github.com/nektos/act/pkg/common"
	"github.com/nektos/act/pkg/model"
	"github.com/nektos/act/pkg/runner"
	log "github.com/sirupsen/logrus"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const reportEvery = 200 * time.Millisecond

func main() {
	address, labels := os.Args[1], strings.Split(os.Args[3], ",")
	tasks, err := strconv.Atoi(os.Args[4])
	check(err)
	credential := http.Header{}
	add := connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			for name := range credential {
				request.Header().Set(name, credential.Get(name))
			}
			return next(ctx, request)
		}
	})
	options := []connect.ClientOption{connect.WithInterceptors(add), connect.WithSendGzip()}
	if os.Args[5] == "json" {
		options = append(options, connect.WithProtoJSON())
	}
	client := runnerv1connect.NewRunnerServiceClient(http.DefaultClient, address+"/api/actions", options...)
	ctx := context.Background()
	registered, err := client.Register(ctx, connect.NewRequest(&v1.RegisterRequest{
		Name: "go", Token: os.Args[2], Version: "v0.6.0", Labels: labels, Capabilities: []string{"cancelling"},
	}))
	check(err)
	credential.Set("x-runner-uuid", registered.Msg.Runner.Uuid)
	credential.Set("x-runner-token", registered.Msg.Runner.Token)
	_, err = client.Declare(ctx, connect.NewRequest(&v1.DeclareRequest{
		Version: "v0.6.0", Labels: labels, Capabilities: []string{"cancelling"},
	}))
	check(err)
	fmt.Println("registered")

	version := int64(0)
	for done := 0; done < tasks; {
		fetched, err := client.FetchTask(ctx, connect.NewRequest(&v1.FetchTaskRequest{TasksVersion: version}))
		check(err)
		if fetched.Msg.Task == nil {
			version = fetched.Msg.TasksVersion
			time.Sleep(reportEvery)
			continue
		}
		// The next task may wait already.
		version = 0
		run(ctx, client, address, fetched.Msg.Task)
		done++
	}
}

// A report of a task: an entry of the log becomes a row, and the state of a step.
// Secrets are not masked here: the service has to.
type report struct {
	mutex  sync.Mutex
	client runnerv1connect.RunnerServiceClient
	cancel context.CancelFunc
	state  *v1.TaskState
	rows   []*v1.LogRow
	sent   int64
}

func (r *report) Levels() []log.Level { return log.AllLevels }
func (r *report) WithJobLogger() *log.Logger {
	logger := log.New()
	logger.SetOutput(new(bytes.Buffer))
	logger.AddHook(r)
	return logger
}

func (r *report) Fire(entry *log.Entry) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if result, ok := entry.Data["jobResult"].(string); ok {
		r.state.Result = resultOf(result)
	}
	var step *v1.StepState
	if number, ok := entry.Data["stepNumber"].(int); ok && entry.Data["stage"] == "Main" && number < len(r.state.Steps) {
		step = r.state.Steps[number]
	}
	row := &v1.LogRow{
		Time:    timestamppb.New(entry.Time),
		Content: strings.TrimRight(entry.Message, "\r\n"),
	}
	if step == nil {
		r.rows = append(r.rows, row)
		return nil
	}
	if step.StartedAt == nil {
		step.StartedAt = row.Time
	}
	if entry.Data["raw_output"] == true {
		if step.LogLength == 0 {
			step.LogIndex = r.sent + int64(len(r.rows))
		}
		step.LogLength++
		r.rows = append(r.rows, row)
	}
	if result := entry.Data["stepResult"]; result != nil {
		step.Result, step.StoppedAt = resultOf(fmt.Sprint(result)), row.Time
	}
	return nil
}

// Sends rows and states; cancels the task if the service says so.
func (r *report) send(ctx context.Context, isEnd bool, outputs map[string]string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(r.rows) > 0 || isEnd {
		_, err := r.client.UpdateLog(ctx, connect.NewRequest(&v1.UpdateLogRequest{
			TaskId: r.state.Id, Index: r.sent, Rows: r.rows, NoMore: isEnd,
		}))
		check(err)
		r.sent, r.rows = r.sent+int64(len(r.rows)), nil
	}
	state := r.state
	result := state.Result
	if !isEnd {
		state.Result = v1.Result_RESULT_UNSPECIFIED
	}
	answer, err := r.client.UpdateTask(ctx, connect.NewRequest(&v1.UpdateTaskRequest{State: state, Outputs: outputs}))
	check(err)
	state.Result = result
	if answer.Msg.State.GetResult() == v1.Result_RESULT_CANCELLED {
		r.cancel()
	}
}

func run(parent context.Context, client runnerv1connect.RunnerServiceClient, address string, task *v1.Task) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	workflow, err := model.ReadWorkflow(bytes.NewReader(task.WorkflowPayload))
	check(err)
	id := workflow.GetJobIDs()[0]
	job := workflow.GetJob(id)
	for need, result := range task.Needs {
		workflow.Jobs[need] = &model.Job{
			Outputs: result.Outputs,
			Result:  strings.ToLower(strings.TrimPrefix(result.Result.String(), "RESULT_")),
		}
	}
	check(job.RawNeeds.Encode(mapKeys(task.Needs)))
	plan, err := model.CombineWorkflowPlanner(workflow).PlanJob(id)
	check(err)
	// What the job needs has run elsewhere.
	for _, stage := range plan.Stages {
		for _, each := range stage.Runs {
			if each.JobID == id {
				plan.Stages = []*model.Stage{stage}
			}
		}
	}

	state := &v1.TaskState{Id: task.Id, StartedAt: timestamppb.Now()}
	for number := range job.Steps {
		state.Steps = append(state.Steps, &v1.StepState{Id: int64(number)})
	}
	reported := &report{client: client, cancel: cancel, state: state}

	text := func(name string) string { return task.Context.Fields[name].GetStringValue() }
	event, err := task.Context.Fields["event"].GetStructValue().MarshalJSON()
	check(err)
	directory, err := os.MkdirTemp("", "task-")
	check(err)
	defer os.RemoveAll(directory)
	level := log.InfoLevel
	engine, err := runner.New(&runner.Config{
		Workdir:        directory,
		ActionCacheDir: directory,
		LogOutput:      true,
		EventName:      text("event_name"),
		EventJSON:      string(event),
		GitHubInstance: address,
		Secrets:        task.Secrets,
		Vars:           task.Vars,
		JobLoggerLevel: &level,
		PlatformPicker: func([]string) string { return "-self-hosted" },
		PresetGitHubContext: &model.GithubContext{
			Event:           task.Context.Fields["event"].GetStructValue().AsMap(),
			EventName:       text("event_name"),
			RunID:           text("run_id"),
			RunNumber:       text("run_number"),
			Actor:           text("actor"),
			Repository:      text("repository"),
			RepositoryOwner: text("repository_owner"),
			Token:           text("token"),
			Sha:             text("sha"),
			Ref:             text("ref"),
			RefName:         text("ref_name"),
			RefType:         text("ref_type"),
			ServerURL:       text("server_url"),
			APIURL:          text("api_url"),
		},
	})
	check(err)

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		logged := runner.WithJobLoggerFactory(common.WithLogger(ctx, reported.WithJobLogger()), reported)
		if err := engine.NewPlanExecutor(plan)(logged); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	for isEnded := false; !isEnded; {
		select {
		case <-ended:
			isEnded = true
		case <-time.After(reportEvery):
			reported.send(parent, false, nil)
		}
	}
	if ctx.Err() != nil {
		state.Result = v1.Result_RESULT_CANCELLED
	} else if state.Result == v1.Result_RESULT_UNSPECIFIED {
		state.Result = v1.Result_RESULT_FAILURE
	}
	state.StoppedAt = timestamppb.Now()
	reported.send(parent, true, job.Outputs)
	fmt.Println(id, state.Result)
}

func resultOf(word string) v1.Result {
	return v1.Result(v1.Result_value["RESULT_"+strings.ToUpper(word)])
}

func mapKeys(needs map[string]*v1.TaskNeed) []string {
	keys := []string{}
	for key := range needs {
		keys = append(keys, key)
	}
	return keys
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
