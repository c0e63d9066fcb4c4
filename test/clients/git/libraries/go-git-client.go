// Clones, deepens, filters and pushes with go-git. Arguments: address, user, password, directory.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	git "github.com/go-git/go-git/v6"
	"github.com/go-git/go-git/v6/config"
	"github.com/go-git/go-git/v6/plumbing"
	"github.com/go-git/go-git/v6/plumbing/client"
	"github.com/go-git/go-git/v6/plumbing/object"
	"github.com/go-git/go-git/v6/plumbing/protocol/packp"
	"github.com/go-git/go-git/v6/plumbing/transport/http"
)

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The library's log ends with an error at the boundary of a shallow clone.
func count(repository *git.Repository) int {
	commits := 0
	log := must(repository.Log(&git.LogOptions{}))
	err := log.ForEach(func(*object.Commit) error { commits++; return nil })
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		check(err)
	}
	return commits
}

func main() {
	address, directory := os.Args[1], os.Args[4]
	auth := []client.Option{client.WithHTTPAuth(&http.BasicAuth{Username: os.Args[2], Password: os.Args[3]})}
	clone := func(name string, options git.CloneOptions) *git.Repository {
		options.URL, options.ClientOptions = address, auth
		return must(git.PlainClone(directory+"/"+name, &options))
	}
	full := clone("full", git.CloneOptions{})
	shallow := clone("shallow", git.CloneOptions{Depth: 1})
	depths := []int{count(shallow)}
	for _, depth := range []int{3, 1<<31 - 1} {
		check(shallow.Fetch(&git.FetchOptions{Depth: depth, ClientOptions: auth}))
		depths = append(depths, count(shallow))
	}

	partial := clone("partial", git.CloneOptions{Bare: true, Filter: packp.FilterBlobNone()})
	blobs := 0
	found := must(partial.BlobObjects())
	check(found.ForEach(func(*object.Blob) error { blobs++; return nil }))

	head := must(full.Head()).Hash()
	parent := must(full.CommitObject(head)).ParentHashes[0]
	set := func(name string, to plumbing.Hash) {
		check(full.Storer.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(name), to)))
	}
	set("refs/heads/new", head)
	set("refs/heads/old", parent)
	tagger := &object.Signature{Name: "a", Email: "a@example.com", When: time.Now()}
	must(full.CreateTag("made", head, &git.CreateTagOptions{Tagger: tagger, Message: "made here"}))
	push := func(isAtomic bool, specs ...config.RefSpec) error {
		return full.Push(&git.PushOptions{RefSpecs: specs, Atomic: isAtomic, ClientOptions: auth})
	}
	check(push(false, "refs/heads/new:refs/heads/new", "+refs/heads/old:refs/heads/old",
		"refs/tags/made:refs/tags/made", ":refs/heads/gone"))
	refused := []string{}
	if push(true, "refs/heads/new:refs/heads/beside", "refs/heads/new:refs/pull/1/head") != nil {
		refused = append(refused, "atomic")
	}

	fmt.Println(string(must(json.Marshal(map[string]any{
		"commits": count(full), "depths": depths, "blobs": blobs, "refused": refused,
	}))))
}
