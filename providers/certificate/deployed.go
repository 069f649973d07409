package certificate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/interlock-harness/interlock/providers/contract"
)

// ReadContract reads what the gate has to know of the contract in folder dir. It
// compiles nothing: schema, rules and cases count by their bytes.
func ReadContract(fsys fs.FS, dir string) (Contract, error) {
	h, err := contract.ReadHead(fsys, dir)
	if err != nil {
		return Contract{}, err
	}
	text, cases, err := lock(fsys, dir)
	if err != nil {
		return Contract{}, fmt.Errorf("lock the files of contract %s: %w", h.Ref(), err)
	}
	return Contract{
		ID: h.ID, Version: h.Version, Digest: Hash([]byte(text)), Fixtures: Hash([]byte(cases)),
		Must: h.Must, Cases: h.Plan.Cases, Repeats: h.Plan.Repeats, Independent: h.Independent,
	}, nil
}

// ReadContracts does so for all contracts of a folder, by id.
func ReadContracts(fsys fs.FS, dir string) (map[string]Contract, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	all := map[string]Contract{}
	for _, e := range entries {
		if e.IsDir() {
			c, err := ReadContract(fsys, path.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			all[c.ID] = c
		}
	}
	return all, nil
}

// lock lists the files of a contract with their SHA-256, one a line, sorted by
// name: the text of the contract, and the cases that a run rests on.
func lock(fsys fs.FS, dir string) (text, cases string, err error) {
	err = fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		short := strings.TrimPrefix(name, dir+"/")
		line := hex.EncodeToString(sum[:]) + "  " + short + "\n"
		if strings.HasPrefix(short, "cases/") {
			cases += line
		} else {
			text += line
		}
		return nil
	})
	return text, cases, err
}
