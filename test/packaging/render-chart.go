// Renders a chart as Helm does: with text/template, sprig, and the functions that Helm adds. It reads
// {"templates": {NAME: TEXT}, "context": {"Values": ..., "Release": ..., "Chart": ...}} and writes {NAME: TEXT}.
// Helm's checks of values.schema.json, and its merging of values, are those of the test.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v2"
)

type request struct {
	Templates map[string]string
	Context   map[string]interface{}
}

func functions(root *template.Template) template.FuncMap {
	all := sprig.TxtFuncMap()
	// Helm takes them away: a chart does not depend on the machine that renders it.
	delete(all, "env")
	delete(all, "expandenv")
	all["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := root.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return value, errors.New(message)
		}
		return value, nil
	}
	all["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	all["fromJson"] = func(text string) (map[string]interface{}, error) {
		value := map[string]interface{}{}
		return value, json.Unmarshal([]byte(text), &value)
	}
	return all
}

func render(asked request) (map[string]string, error) {
	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(functions(root))
	for name, text := range asked.Templates {
		if _, err := root.New(name).Parse(text); err != nil {
			return nil, err
		}
	}
	rendered := map[string]string{}
	for name := range asked.Templates {
		var text bytes.Buffer
		if err := root.ExecuteTemplate(&text, name, asked.Context); err != nil {
			return nil, err
		}
		rendered[name] = strings.ReplaceAll(text.String(), "<no value>", "")
	}
	return rendered, nil
}

func main() {
	var asked request
	err := json.NewDecoder(os.Stdin).Decode(&asked)
	if err == nil {
		var rendered map[string]string
		if rendered, err = render(asked); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(rendered)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
